"""Judges /app/tax.csv. Writes the reward and a CTRF report."""
import csv
import json
import re
from pathlib import Path

FILE = Path("/app/tax.csv")
LOGS = Path("/logs/verifier")
ROWS = [["2026-09-02", "4910", "-11.80"], ["2026-09-09", "8400", "1500.50"], ["2026-09-30", "1200", "-9.90"]]


def rows():
    with FILE.open(newline="") as file:
        return list(csv.reader(file))


def test_the_file_is_there():
    assert FILE.is_file(), f"{FILE} is missing"


def test_the_columns_are_named():
    assert rows()[0] == ["date", "account", "amount"], f"first line: {rows()[0]}"


def test_dates_have_dashes():
    dates = [row[0] for row in rows()[1:]]
    assert dates and all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates), f"dates: {dates}"


def test_amounts_are_euros():
    amounts = [row[2] for row in rows()[1:]]
    assert amounts and all(re.fullmatch(r"-?\d+\.\d\d", amount) for amount in amounts), f"amounts: {amounts}"


def test_the_rows_are_right():
    assert rows()[1:] == ROWS, f"rows: {rows()[1:]}"


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    results = []
    for name, test in tests:
        result = {"name": name.removeprefix("test_").replace("_", " "), "status": "passed", "duration": 0}
        try:
            test()
        except Exception as error:
            result |= {"status": "failed", "message": str(error) or type(error).__name__}
        results.append(result)
    passed = sum(result["status"] == "passed" for result in results)
    summary = {"tests": len(results), "passed": passed, "failed": len(results) - passed, "pending": 0, "skipped": 0, "other": 0}
    report = {"reportFormat": "CTRF", "specVersion": "0.0.0", "results": {"tool": {"name": "checks"}, "summary": summary, "tests": results}}
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "ctrf.json").write_text(json.dumps(report, indent=2))
    (LOGS / "reward.txt").write_text(f"{int(passed == len(results))}\n")
    for result in results:
        print(result["status"], result["name"], result.get("message", ""))


main()
