//! The verifier that decides a case: a bash script with one call for each check, which writes a CTRF report and the share that passed.
//! Patterns are searched by perl or python3, whichever the container has; without either nothing is decided and no reward is written.

use std::fmt::Write as _;

use serde_json::Value;

use super::assertion::{Check, Kind};

/// What the calls need. `told` gets its name as JSON, so that nothing has to be escaped in the container.
const HEAD: &str = r#"#!/bin/bash
# Made by skilldelta from the assertions of evals.json.
workspace=$PWD
out=/logs/verifier
passed=0 failed=0 tests=
told() { # status, name, message
    case $1 in passed) passed=$((passed + 1)) ;; failed) failed=$((failed + 1)) ;; esac
    tests="$tests${tests:+,}{\"name\":$2,\"status\":\"$1\"${3:+,\"message\":\"$3\"}}"
    printf '%s %s %s\n' "$1" "$2" "$3"
}
undecided() {
    echo "cannot be decided: $1" >&2
    exit 2
}
search() { # pattern, file; 0 = found, 1 = not found
    if command -v perl >/dev/null; then
        perl -CSDA -e '$p = shift; undef $/; open(F, "<", shift) or exit 2; $t = <F>; $t = "" if !defined $t; exit($t =~ /$p/m ? 0 : 1)' -- "$1" "$2"
    elif command -v python3 >/dev/null; then
        python3 -I -c 'import re, sys
text = open(sys.argv[2], encoding="utf-8", errors="replace").read()
sys.exit(0 if re.search(sys.argv[1], text, re.M) else 1)' "$1" "$2"
    else
        undecided "the container has neither perl nor python3 to search for a pattern"
    fi
}
file() { # name, path, yes|no
    if [ -e "$workspace/$2" ] || [ -L "$workspace/$2" ]; then there=yes; else there=no; fi
    if [ $there = "$3" ]; then told passed "$1"; else told failed "$1" "there: $there, wanted: $3"; fi
}
text() { # name, path, pattern, yes|no
    if ! [ -f "$workspace/$2" ]; then told failed "$1" "the file is not there"; return; fi
    search "$3" "$workspace/$2"
    case $? in 0) found=yes ;; 1) found=no ;; *) undecided "the pattern $3" ;; esac
    if [ $found = "$4" ]; then told passed "$1"; else told failed "$1" "found: $found, wanted: $4"; fi
}
run() { # name, command, folder, program, exit code
    if [ -n "$4" ] && ! command -v "$4" >/dev/null; then told skipped "$1" "a program is not there"; return; fi
    (cd "$workspace/$3" && exec /bin/sh -c "$2") </dev/null
    code=$?
    if [ $code = "$5" ]; then told passed "$1"; else told failed "$1" "exit code $code, wanted $5"; fi
}
"#;

const TAIL: &str = r#"printf '{"results":{"tool":{"name":"evals.json"},"tests":[%s]}}\n' "$tests" >"$out/ctrf.json"
total=$((passed + failed))
if [ $total = 0 ] || [ $passed = 0 ]; then reward=0
elif [ $failed = 0 ]; then reward=1
else reward=$(printf '0.%06d' $((passed * 1000000 / total))); fi
echo "$reward" >"$out/reward.txt"
echo "$passed of $total"
"#;

/// The script for these checks.
pub(super) fn of(checks: &[Check]) -> String {
    let mut script = HEAD.to_owned();
    for check in checks {
        let name = quoted(&Value::from(check.name.as_str()).to_string());
        let yes = |wanted: bool| if wanted { "yes" } else { "no" };
        // Writing to a text cannot fail.
        let _ = match &check.kind {
            Kind::File { path, there } => writeln!(script, "file {name} {} {}", quoted(path.as_str()), yes(*there)),
            Kind::Text { path, pattern, found } => {
                writeln!(script, "text {name} {} {} {}", quoted(path.as_str()), quoted(pattern), yes(*found))
            }
            Kind::Command { run, cwd, requires, exit } => {
                let folder = cwd.as_ref().map_or(".", |cwd| cwd.as_str());
                let program = requires.as_deref().unwrap_or_default();
                writeln!(script, "run {name} {} {} {} {exit}", quoted(run), quoted(folder), quoted(program))
            }
        };
    }
    script.push_str(TAIL);
    script
}

/// A text as one word of the shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
