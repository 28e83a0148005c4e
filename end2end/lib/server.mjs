// Starts the real program on a free port with a data folder of its own, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");
export const EXAMPLES = join(ROOT, "examples");
const BINARY = resolve(ROOT, process.env.SKILLDELTA_BINARY ?? "target/debug/skilldelta");
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 120_000;

/** A port of loopback that nobody listens on just now. */
async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

/** Whether the server answers at all; any status counts. */
async function answers(address) {
  try {
    await fetch(address);
    return true;
  } catch {
    return false;
  }
}

/** The settings of a server that may read the example tasks and has the examples' scripted model. */
const settings = (port) => `listen = "127.0.0.1:${port}"
task_roots = ["${EXAMPLES}/tasks"]
max_concurrency = 2

[upstreams.scripted]
kind = "scripted"
file = "${EXAMPLES}/model.json"
models = ["example"]
`;

/** Starts `skilldelta serve` with an empty data folder. Gives `{ address, stop }`. */
export async function start() {
  const folder = await mkdtemp(join(tmpdir(), "skilldelta-end2end-"));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const logPath = join(folder, "server.log");
  const log = createWriteStream(logPath);
  const data = join(folder, "data");
  await mkdir(data);
  await writeFile(join(data, "skilldelta.toml"), settings(port));
  const program = spawn(BINARY, ["serve", "--data", data], {
    cwd: ROOT,
    env: { ...process.env, RUST_BACKTRACE: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  program.stdout.pipe(log);
  program.stderr.pipe(log);
  const ended = once(program, "exit");
  let code;
  ended.then(([status, signal]) => (code = status ?? signal), (error) => (code = error));

  const stop = async () => {
    if (code === undefined) program.kill("SIGTERM");
    const late = setTimeout(() => program.kill("SIGKILL"), STOP_LIMIT_MS);
    await ended;
    clearTimeout(late);
    const text = await readFile(logPath, "utf8");
    await rm(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the server ended with ${code}; its log:\n${text}`);
  };

  const limit = Date.now() + START_LIMIT_MS;
  while (!(await answers(address))) {
    if (code !== undefined || Date.now() > limit) {
      program.kill("SIGKILL");
      throw new Error(`the server did not start; its log:\n${await readFile(logPath, "utf8")}`);
    }
    await new Promise((next) => setTimeout(next, 50));
  }
  return { address, stop };
}
