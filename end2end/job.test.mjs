// The whole job in a browser: skill, tasks, evaluation, live page, Δ, pair page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, shoot } from "./lib/browser.mjs";
import { start } from "./lib/server.mjs";

let server;
let browser;
let page;
let complaints;

before(async () => {
  server = await start();
  browser = await launch();
  ({ page, complaints } = await open(browser));
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** One step of the job: fails also where the page complained meanwhile. */
function step(name, action) {
  test(name, async () => {
    await action();
    assert.equal(complaints.splice(0).join("\n"), "");
  });
}

step("the first page is there and does not overflow", async () => {
  await page.goto(server.address);
  assert.match(await page.title(), /Skilldelta/i);
  assert.deepEqual(await shoot(page, "first"), []);
});
