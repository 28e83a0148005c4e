#!/usr/bin/env bash
set -euo pipefail
echo 4960 > /app/answer.txt
