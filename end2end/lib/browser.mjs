// A headless Chromium whose pages complain about everything that a person would not see: console, failed requests, broken scripts.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const SCREENSHOTS = join(import.meta.dirname, "../screenshots");
const WIDTHS = { 1440: 900, 390: 844 };

/** Starts the browser. */
export function launch() {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error("no Chromium found; set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A page and its list of complaints, which must stay empty. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints = [];
  page.on("console", (message) => {
    // Chromium tells of a preload that was not used in time, as on a page whose scripts are off.
    if (message.type() === "warning" && message.text().includes("preloaded")) return;
    if (["error", "warning"].includes(message.type())) complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
  page.on("requestfailed", (request) => {
    // Leaving a page ends its event stream and what it still loads; the browser reports that as aborted.
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") complaints.push(`${request.method()} ${request.url()}: ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.request().method()} ${response.url()}: ${response.status()}`);
  });
  return { page, complaints };
}

/** Takes screenshots of the page as it is, wide and narrow, light and dark. Gives the widths at which it overflows to the side. */
export async function shoot(page, name) {
  await mkdir(SCREENSHOTS, { recursive: true });
  const overflowing = [];
  for (const [width, height] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width: Number(width), height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const scrolls = (element) => element.closest(".table-scroll, pre, details:not([open])") !== null;
      const beyond = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
      const names = beyond.filter((element) => !scrolls(element)).slice(0, 5).map((element) => `${element.tagName}.${element.className}`);
      return scrollWidth > clientWidth ? names.join(" ") || "something" : "";
    });
    if (wide) overflowing.push(`${width}: ${wide}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  return overflowing;
}
