// Runs every *.test.mjs beside it, one after the other, and closes with a line that counts.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.mjs"))
  .map((name) => join(import.meta.dirname, name));
const count = { passed: 0, failed: 0 };
const tests = run({ files, concurrency: false });
tests.on("test:pass", ({ details, skip }) => details.type !== "suite" && skip === undefined && count.passed++);
tests.on("test:fail", () => count.failed++);
tests.on("end", () => {
  setImmediate(() => {
    console.log(`${count.passed} passed, ${count.failed} failed`);
    process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : 1;
  });
});
tests.compose(spec).pipe(process.stdout);
