#!/usr/bin/env bash
# Compares the answer, blanks aside, with the expected text. Writes the reward and a CTRF report.
set -u
answer=/app/answer.txt
expected=5
logs=/logs/verifier
mkdir -p "$logs"
there=failed; exact=failed
[ -f "$answer" ] && there=passed
[ "$(tr -d ' \t\r\n' 2>/dev/null < "$answer")" = "$expected" ] && exact=passed
passed=$(printf '%s\n' "$there" "$exact" | grep -c passed)
cat > "$logs/ctrf.json" <<END
{"reportFormat": "CTRF", "specVersion": "0.0.0", "results": {"tool": {"name": "bash"},
 "summary": {"tests": 2, "passed": $passed, "failed": $((2 - passed)), "pending": 0, "skipped": 0, "other": 0},
 "tests": [{"name": "the answer is there", "status": "$there", "duration": 0},
           {"name": "the answer is right", "status": "$exact", "duration": 0}]}}
END
if [ "$passed" = 2 ]; then echo 1; else echo 0; fi > "$logs/reward.txt"
