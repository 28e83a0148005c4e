#!/usr/bin/env python3
"""Measures the leaderboard over HTTP: every order and several filters, with 20 000 rows of a million trials.

usage: bench-leaderboard.py PROGRAM FOLDER [ROUNDS]

FOLDER is what `cargo run --release -p store --example leaderboard 20000 25 FOLDER` filled. Every view is asked for ROUNDS times in turn, on one
connection, as a browser without JavaScript asks: the whole page. The slowest view's median and the server's largest memory count. The floor is a
page of the same server that reads nothing: the form of `/skills/upload`.
"""
import http.client
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

PLACE = ("127.0.0.1", 4399)
TARGET_MS = 50
TARGET_MEMORY_MB = 300
FLOOR = "/skills/upload"
FILTERS = (
    "q=skill-77",
    "q=model+agent+1",
    "model=model-1",
    "agent=agent-2&model=model-1",
    "verdict=improves",
    "quadrant=dominant",
    "n=20&resolvable=1",
    "cat=maths",
    "q=skill&model=model-1&resolvable=1&sort=-rho",
    "q=skill&sort=skill&page=300",
    "view=forest",
    "view=scatter",
)


def get(connection, path):
    start = time.monotonic()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {body[:300]}")
    return (time.monotonic() - start) * 1000, body


def started(program, folder):
    command = [program, "serve", "--data", folder, "--listen", "%s:%d" % PLACE]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if server.poll() is not None:
            raise SystemExit(f"the server ended with {server.returncode}")
        connection = http.client.HTTPConnection(*PLACE, timeout=120)
        try:
            get(connection, "/leaderboard")
            return server, connection
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


def peak_mb(server):
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


def main():
    program, folder = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    server, connection = started(program, folder)
    try:
        first = get(connection, "/leaderboard")[1]
        form = re.search(r'id="filter-sort".*?</select>', first, re.S).group(0)
        sorts = [f"sort={word}" for word in re.findall(r'<option value="([^"]+)"', form)]
        if len(sorts) < 30:
            raise SystemExit(f"only {len(sorts)} orders were found on the page")
        views = {f"/leaderboard?{query}": [] for query in sorts + list(FILTERS)}
        views[FLOOR] = []
        for _ in range(rounds):
            for path, times in views.items():
                times.append(get(connection, path)[0])
        medians = {path: statistics.median(times) for path, times in views.items()}
        floor = medians.pop(FLOOR)
        for path, median in sorted(medians.items(), key=lambda item: -item[1]):
            print(f"{path:<64} {median:7.1f} ms")
        slowest, memory = max(medians.values()), peak_mb(server)
        print(f"{len(medians)} views, {rounds} rounds: median of all {statistics.median(medians.values()):.1f} ms, floor {floor:.1f} ms")
        print(f"slowest median {slowest:.1f} ms (under {TARGET_MS}); largest memory {memory:.0f} MB (under {TARGET_MEMORY_MB})")
        return 0 if slowest < TARGET_MS and memory < TARGET_MEMORY_MB else 1
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
