#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Agents over HTTP: servers registered, jobs leased and ended.
set -eu
[ -x "$ASSAY_BUILD_DIR/libexec/assay/assay-serve" ] || { echo "assay-serve is not built"; exit 77; }
python3 -c "import jsonschema, yaml" 2>/dev/null || { echo "python3-jsonschema or python3-yaml is missing"; exit 77; }
cd "$(dirname "$0")"
for file in agents_test.py leases_test.py; do
    PYTHONDONTWRITEBYTECODE=1 python3 "$file"
done
