#!/usr/bin/env python3
"""Measures skilldelta beside the least that any client of the Docker API can spend on the same trials.

usage: bench-overhead.py PROGRAM [TRIALS] [CONCURRENCY] [ROUNDS]

The floor of a trial: create and start (with init), upload, run the solution, upload, run the tests, read the reward, remove.
Both sides run in turn, ROUNDS times; the median of the ratios counts.
"""
import http.client
import io
import json
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ENGINE = "/var/run/docker.sock"
IMAGE = "skilldelta-bench-floor"
TASK = {
    "instruction.md": "Write the word hello to /app/hello.txt.\n",
    "task.toml": 'version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n[agent]\ntimeout_sec = 60.0\n'
    "[environment]\ncpus = 1\nmemory_mb = 512\nallow_internet = false\n",
    "environment/Dockerfile": "FROM skilldelta-base:bookworm\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/bash\necho hello > /app/hello.txt\n",
    "tests/test.sh": '#!/bin/bash\nmkdir -p /logs/verifier\npython3 -c \'assert open("/app/hello.txt").read() == "hello\\n"\'\n'
    "if [ $? = 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n",
}
TARGET_RATIO = 1.3
TARGET_MEMORY_MB = 100


class Engine(http.client.HTTPConnection):
    """HTTP over the engine's socket."""

    def __init__(self):
        super().__init__("engine")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(ENGINE)

    def call(self, method, path, body=None, kind="application/json"):
        data = json.dumps(body) if isinstance(body, dict) else body
        self.request(method, "/v1.41" + path, body=data, headers={"Content-Type": kind})
        answer = self.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {content[:200]!r}")
        return content


def packed(folder):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, arcname=folder.name)
    return buffer.getvalue()


def execute(engine, container, command):
    started = json.loads(engine.call("POST", f"/containers/{container}/exec", {"Cmd": command, "AttachStdout": True, "AttachStderr": True}))
    engine.call("POST", f"/exec/{started['Id']}/start", {"Detach": False, "Tty": True})
    engine.close()


def floor_trial(solution, tests):
    engine = Engine()
    host = {"Init": True, "NetworkMode": "none"}
    made = engine.call("POST", "/containers/create", {"Image": IMAGE, "Cmd": ["sleep", "infinity"], "HostConfig": host})
    container = json.loads(made)["Id"]
    engine.call("POST", f"/containers/{container}/start")
    for archive, script in ((solution, "/solution/solve.sh"), (tests, "/tests/test.sh")):
        engine.call("PUT", f"/containers/{container}/archive?path=/", archive, "application/x-tar")
        execute(engine, container, ["bash", script])
    answer = engine.call("GET", f"/containers/{container}/archive?path=/logs/verifier/reward.txt")
    reward = tarfile.open(fileobj=io.BytesIO(answer)).extractfile("reward.txt").read()
    engine.call("DELETE", f"/containers/{container}?force=true&v=true")
    if reward.strip() != b"1":
        raise SystemExit(f"a floor trial got the reward {reward!r}")


def floor(task, trials, concurrency):
    solution, tests = packed(task / "solution"), packed(task / "tests")
    start = time.monotonic()
    with ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(lambda _: floor_trial(solution, tests), range(trials)))
    return time.monotonic() - start


def watch_memory(process, peak):
    """Keeps the peak resident memory in MB in `peak[0]` until the process ends."""
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                peak[0] = max(peak[0], int(line.split()[1]) / 1024)
        time.sleep(0.05)


def ours(program, folder, repeats, concurrency):
    report = folder / "report.json"
    command = [program, "eval", "--skill", str(folder / "skill"), "--tasks", str(folder / "tasks"), "--agent", "oracle"]
    command += ["-k", str(repeats), "--concurrency", str(concurrency), "--data", str(folder / "data"), "--json", str(report)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = [0.0]
    watcher = threading.Thread(target=watch_memory, args=(process, peak))
    watcher.start()
    output = process.communicate()[0]
    wall = time.monotonic() - start
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"skilldelta ended with {process.returncode}:\n{output}")
    trials = json.loads(report.read_text())["trials"]
    bad = [trial for trial in trials if trial["verdict"] != "pass"]
    if len(trials) != 2 * repeats or bad:
        raise SystemExit(f"{len(trials)} trials, {len(bad)} without the verdict pass: {bad[:2]}")
    return wall, peak[0]


def main():
    program, numbers = sys.argv[1], [int(text) for text in sys.argv[2:]]
    trials, concurrency, rounds = numbers + [20, 4, 3][len(numbers):]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in TASK.items():
            file = folder / "tasks/hello" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        skill = folder / "skill/SKILL.md"
        skill.parent.mkdir()
        skill.write_text("---\nname: bench-greeting\ndescription: How words are greeted here. Use for greetings.\n---\n\nSay it once.\n")
        subprocess.run(["docker", "build", "--quiet", "--tag", IMAGE, folder / "tasks/hello/environment"], check=True, capture_output=True)
        try:
            ours(program, folder, 1, concurrency)  # builds the image and the database, as the floor's image is built already
            ratios, peak = [], 0.0
            for _ in range(rounds):
                least = floor(folder / "tasks/hello", trials, concurrency)
                wall, memory = ours(program, folder, trials // 2, concurrency)
                ratios.append(wall / least)
                peak = max(peak, memory)
                print(f"floor {least:.2f} s, skilldelta {wall:.2f} s, ratio {wall / least:.2f}, peak memory {memory:.0f} MB", flush=True)
        finally:
            subprocess.run(["docker", "image", "rm", IMAGE], capture_output=True)
    ratio = statistics.median(ratios)
    print(f"{trials} oracle trials at concurrency {concurrency}: ratio {ratio:.2f} (at most {TARGET_RATIO}), "
          f"peak memory {peak:.0f} MB (under {TARGET_MEMORY_MB})")
    sys.exit(0 if ratio <= TARGET_RATIO and peak < TARGET_MEMORY_MB else 1)


main()
