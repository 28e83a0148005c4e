// The whole job in a browser, against the real program and a real Docker engine: skill, tasks, evaluation, live page, Δ, pair page.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, shoot } from "./lib/browser.mjs";
import { EXAMPLES, start } from "./lib/server.mjs";

const TASKS = 8;
// Four rescued, one broken, of eight (examples/README.md); pages may round it.
const DELTA = /\+(37\.5|38) (pp|percentage points)/;
const RUN_LIMIT_MS = 300_000;

let server;
let browser;
let page;
let complaints;
let evaluation;

before(async () => {
  server = await start();
  browser = await launch();
  ({ page, complaints } = await open(browser));
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

let broken = false;

/** One step of the job: fails also where the page complained meanwhile, or is wider than the screen. Later steps need the earlier ones. */
function step(name, action, screenshots) {
  test(name, async (context) => {
    if (broken) return context.skip("an earlier step failed");
    broken = true;
    await action().catch(async (error) => {
      await shoot(page, "failed");
      throw error;
    });
    if (screenshots) assert.deepEqual(await shoot(page, screenshots), [], "wider than the screen");
    assert.equal(complaints.splice(0).join("\n"), "");
    broken = false;
  });
}

const sees = (locator) => locator.first().waitFor({ state: "visible" });

step("the first page says what this is", async () => {
  await page.goto(server.address);
  assert.match(await page.title(), /Skilldelta/);
  await sees(page.getByRole("heading", { level: 1 }));
}, "home-empty");

step("a folder with a skill is uploaded and checked", async () => {
  await page.getByRole("link", { name: "Skills", exact: true }).first().click();
  await page.locator("#upload-folder").setInputFiles(join(EXAMPLES, "skills/bookkeeping-conventions"));
  await page.getByRole("button", { name: "Upload folder and check" }).click();
  await sees(page.getByRole("heading", { name: "1 accepted, 0 refused" }));
}, "skill-uploaded");

step("the skill has a page with its files", async () => {
  await page.getByRole("link", { name: "bookkeeping-conventions" }).first().click();
  await sees(page.getByRole("heading", { level: 1, name: "bookkeeping-conventions" }));
  await sees(page.getByText("scripts/ledger.py").first());
}, "skill");

step("a folder of tasks is added and checked", async () => {
  await page.goto(`${server.address}/tasks`);
  await page.locator("#add-path").fill(join(EXAMPLES, "tasks"));
  await page.getByRole("button", { name: "Add and check" }).click();
  await sees(page.getByRole("heading", { name: `${TASKS} accepted, 0 refused` }));
}, "tasks-added");

step("a plan is made of all tasks, and its card follows the form", async () => {
  await page.getByRole("link", { name: "New evaluation" }).first().click();
  await page.getByLabel("Agent", { exact: true }).selectOption("bash");
  await page.getByRole("button", { name: /Choose all/ }).click();
  await page.waitForURL(/select=all/);
  await page.getByLabel("Model", { exact: true }).selectOption("scripted/example");
  await sees(page.locator(".plan-numbers").getByText(String(2 * TASKS), { exact: true }));
}, "plan");

step("the evaluation starts and its page follows by itself", async () => {
  await page.getByRole("button", { name: "Start evaluation" }).click();
  await page.waitForURL(/\/evaluations\/\d+$/);
  evaluation = page.url();
  await sees(page.getByText(`of ${2 * TASKS} trials finished`));
  await sees(page.getByText("Live: this page follows by itself."));
}, "live");

step("without a reload the page turns into the result, with its Δ and its chart", async () => {
  await page.locator(".headline-main").waitFor({ timeout: RUN_LIMIT_MS });
  await sees(page.locator(".headline-main").getByText(DELTA));
  await sees(page.locator(".chart-wide svg"));
  await sees(page.getByText(/scripted model/i));
}, "result");

step("the page says in plain words what it shows, and how to read it", async () => {
  await sees(page.locator(".headline-meaning"));
  await page.getByText("How to read this page").click();
  await sees(page.getByText("One task, tried twice by the same agent"));
  for (const chart of ["#quadrant-wide-title", "#tokens-wide-title"]) assert.equal(await page.locator(chart).count(), 1, chart);
});

step("the four-way table filters the matrix, and arrow keys go from pair to pair", async () => {
  await page.locator("a.four-cell").filter({ hasText: "rescued" }).click();
  await page.waitForURL(/\?flip=rescued#pairs$/);
  await sees(page.locator(".filter[aria-current]").getByText("rescued"));
  const marks = page.locator("#pairs a.flip-link");
  await marks.first().waitFor();
  assert.equal(await marks.count(), 4);
  await marks.first().focus();
  await page.keyboard.press("ArrowDown");
  const second = await marks.nth(1).getAttribute("href");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), second);
});

step("a rescued pair shows both traces and both test results", async () => {
  const row = page.getByRole("row").filter({ hasText: "march-bank-statement" });
  await row.locator("a").first().click();
  await sees(page.getByRole("heading", { level: 1, name: "march-bank-statement" }));
  await sees(page.locator(".call").getByText("cat /root/.agents/skills/bookkeeping-conventions/SKILL.md"));
  await sees(page.getByText("the seal is right"));
  await sees(page.getByText(/of 4 pairs rescued/));
  await page.locator("#calls summary").first().click();
  await sees(page.getByRole("columnheader", { name: "First byte" }));
}, "pair");

step("its traces are aligned, and only what differs can be shown", async () => {
  await sees(page.getByText("First observed difference"));
  await sees(page.locator(".spent .chart-wide svg"));
  await page.getByRole("link", { name: /^all that differ/ }).click();
  await sees(page.locator('.filter[aria-current="true"]').getByText("all that differ"));
  assert.equal(await page.locator(".row-same").count(), 0);
  assert.ok((await page.locator(".row-only-with").count()) > 0, "the skill is opened in one arm only");
}, "traces");

step("from a pair one goes on among those of the same kind", async () => {
  const place = async () => (await page.locator(".turn").innerText()).match(/(\d+) of 4 pairs rescued/)?.[1];
  const before = Number(await place());
  const forward = before < 4;
  await page.locator(`.turn a[rel=${forward ? "next" : "prev"}]`).click();
  await sees(page.getByText(`${before + (forward ? 1 : -1)} of 4 pairs rescued`));
  assert.match(page.url(), /\?flip=rescued$/);
});

step("the lists know what was made", async () => {
  for (const [path, text] of [["/skills", "bookkeeping-conventions"], ["/tasks", "wrong-amount"], ["/evaluations", DELTA]]) {
    await page.goto(server.address + path);
    await sees(page.getByText(text));
    assert.deepEqual(await shoot(page, `list${path.replace("/", "-")}`), []);
  }
});

step("the leaderboard has the row, unranked, and sorts and filters by its address", async () => {
  await page.getByRole("link", { name: "Leaderboard", exact: true }).click();
  await sees(page.locator(".board").getByText("bookkeeping-conventions"));
  await sees(page.locator(".board").getByText("scripted model").first());
  await sees(page.getByText("1 row is scripted, imported or by no coding agent: shown, never ranked."));
  await page.locator(".board").getByRole("link", { name: "No skill" }).click();
  await page.waitForURL(/sort=-without/);
  await sees(page.locator('.board th[aria-sort="descending"]').getByText("No skill"));
  assert.deepEqual(await shoot(page, "leaderboard"), []);
  await page.getByLabel("Search").fill("nothing like it");
  await page.getByRole("button", { name: "Show" }).click();
  await sees(page.getByText("No row matches"));
  await page.getByRole("link", { name: "Clear filters" }).first().click();
  await sees(page.locator(".board").getByText("bookkeeping-conventions"));
});

test("the result can be read without JavaScript", async (context) => {
  if (broken) return context.skip("there is no result");
  const plain = await open(browser, { javaScriptEnabled: false });
  await plain.page.goto(evaluation);
  await sees(plain.page.locator(".headline-main").getByText(DELTA));
  // A browser without JavaScript says of each script that it may not be loaded.
  assert.equal(plain.complaints.filter((complaint) => !/\.js: csp$/.test(complaint)).join("\n"), "");
});

test("assets have their types, may be kept for ever, and an unknown one is not the app page", async () => {
  const html = await (await fetch(server.address)).text();
  const assets = [...html.matchAll(/(?:src|href)="(\/pkg\/[^"]+)"/g)].map((match) => match[1]);
  const types = { css: "text/css", js: "text/javascript", wasm: "application/wasm" };
  assert.ok(assets.length >= 3, `only ${assets}`);
  for (const asset of assets) {
    const { status, headers } = await fetch(server.address + asset);
    assert.equal(status, 200);
    assert.match(headers.get("content-type"), new RegExp(`^${types[asset.split(".").pop()]}`));
    assert.match(headers.get("cache-control") ?? "", /immutable/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  }
  assert.equal((await fetch(`${server.address}/pkg/skilldelta.0123456789abcdef.js`)).status, 404);
});
