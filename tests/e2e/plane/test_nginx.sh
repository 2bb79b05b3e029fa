#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The nginx site of packaging/, with Debian's nginx.
set -eu
[ -x "$ASSAY_BUILD_DIR/libexec/assay/assay-serve" ] || { echo "assay-serve is not built"; exit 77; }
for program in nginx curl openssl; do
    command -v "$program" >/dev/null || { echo "$program is missing"; exit 77; }
done
python3 -c "import jsonschema, yaml" 2>/dev/null || { echo "python3-jsonschema or python3-yaml is missing"; exit 77; }
cd "$(dirname "$0")"
exec env PYTHONDONTWRITEBYTECODE=1 python3 nginx_test.py
