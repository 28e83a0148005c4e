#!/usr/bin/env bash
set -euo pipefail
cat > /app/tax.csv <<'END'
date,account,amount
2026-09-02,4910,-11.80
2026-09-09,8400,1500.50
2026-09-30,1200,-9.90
END
