#!/usr/bin/env python3
"""Writes, joins, corrects, mends and checks .ledger files (see ../SKILL.md)."""
import argparse
import csv
import re
import sys
from decimal import Decimal
from pathlib import Path

MEMO_LENGTH = 24


def memo(text):
    """The memo form of any text."""
    plain = re.sub(r"[^A-Z0-9_:\- ]", "", text.upper())
    return re.sub(r"\s+", "_", plain.strip())[:MEMO_LENGTH]


def read(path):
    """Entries of a ledger as (date, account, cents, memo)."""
    entries = []
    for line in Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            date, account, cents, text = line.split(";")
            entries.append((date, account, int(cents), text))
    return entries


def render(path, entries):
    """The whole text of the ledger `path` with these entries."""
    entries = sorted((date, account, cents, memo(text)) for date, account, cents, text in entries)
    check = sum(row * entry[2] for row, entry in enumerate(entries, 1)) % 97
    lines = [f"{date};{account};{cents:+d};{text}" for date, account, cents, text in entries]
    return "\n".join([f"#ledger {Path(path).stem.upper()}", *lines, f"#seal {len(entries)} {check}", ""])


def write(path, entries):
    Path(path).write_text(render(path, entries))


def from_csv(source, target):
    """Enters a bank's export."""
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    write(target, [(row["date"].replace("-", ""), row["account"], int(Decimal(row["amount"]) * 100), row["text"]) for row in rows])


def join(first, second, target):
    """Makes one ledger of two."""
    write(target, read(first) + read(second))


def correct(path, date, account, wrong, right):
    """Reverses the entry with the wrong amount and adds the right one."""
    entries = read(path)
    found = [entry for entry in entries if entry[:3] == (date, account, int(wrong))]
    if len(found) != 1:
        sys.exit(f"{len(found)} entries are dated {date} on {account} with {wrong}; there must be one")
    text = found[0][3]
    write(path, entries + [(date, account, -int(wrong), "REV:" + text), (date, account, int(right), text)])


def mend(path):
    """Puts order, memos, first and last line right."""
    write(path, read(path))


def check(path):
    """Compares the file with what it should be."""
    if Path(path).read_text() != render(path, read(path)):
        sys.exit(f"{path}: breaks a rule; try mend")
    print("sound")


COMMANDS = {
    "from-csv": (from_csv, ["source", "target"]),
    "join": (join, ["first", "second", "target"]),
    "correct": (correct, ["path", "date", "account", "wrong", "right"]),
    "mend": (mend, ["path"]),
    "check": (check, ["path"]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, (function, arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=function.__doc__, prefix_chars="@")
        for argument in arguments:
            command.add_argument(argument)
        command.set_defaults(function=function)
    chosen = vars(parser.parse_args())
    chosen.pop("function")(**chosen)


if __name__ == "__main__":
    main()
