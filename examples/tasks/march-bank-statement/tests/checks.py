"""Judges /app/march.ledger. Writes the reward and a CTRF report."""
import json
from pathlib import Path

FILE = Path("/app/march.ledger")
LOGS = Path("/logs/verifier")
# date, account, cents, memo
ENTRIES = [
    ("20260302", "1200", -4500, "TRAIN_TICKET_TO_BERLIN"),
    ("20260305", "4930", -180000, "RENT_OFFICE"),
    ("20260305", "8400", 125000, "INVOICE_118_SCHOLZ_BROS"),
    ("20260317", "4910", -1230, "POSTAGE_STAMPS"),
    ("20260317", "8400", -2500, "CREDIT_NOTE_TO_INVOICE_1"),
    ("20260331", "1200", -990, "ACCOUNT_FEE"),
]


def lines():
    return FILE.read_text().splitlines()


def entries():
    return [line.split(";") for line in lines() if line and not line.startswith("#")]


def test_the_file_is_there():
    assert FILE.is_file(), f"{FILE} is missing"


def test_the_first_line_names_the_book():
    assert lines()[0] == "#ledger MARCH", f"first line: {lines()[0]!r}"


def test_no_entry_is_missing_or_too_many():
    found = sorted((date, account, int(cents)) for date, account, cents, _ in entries())
    assert found == sorted(entry[:3] for entry in ENTRIES), f"{len(found)} entries: {found}"


def test_amounts_are_cents_with_a_sign():
    amounts = [cents for _, _, cents, _ in entries()]
    assert amounts and all(cents == f"{int(cents):+d}" for cents in amounts), f"amounts: {amounts}"


def test_entries_are_in_order():
    found = [(date, account, int(cents)) for date, account, cents, _ in entries()]
    assert found and found == sorted(found), "not in order of date, account, cents"


def test_memos_have_their_form():
    found = sorted(text for _, _, _, text in entries())
    assert found == sorted(entry[3] for entry in ENTRIES), f"memos: {found}"


def test_the_seal_is_right():
    check = sum(row * int(entry[2]) for row, entry in enumerate(entries(), 1)) % 97
    seal = f"#seal {len(ENTRIES)} {check}"
    assert lines()[-1] == seal, f"last line: {lines()[-1]!r}"


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
