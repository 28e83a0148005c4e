#!/usr/bin/env bash
python3 "$(dirname "$0")/checks.py"
