#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The control plane killed, cut off, without disk, with a new certificate, and asked at random. ASSAY_KILLS, ASSAY_GENERATED: how often.
set -eu
[ -x "$ASSAY_BUILD_DIR/libexec/assay/assay-serve" ] || { echo "assay-serve is not built"; exit 77; }
python3 -c "import jsonschema" 2>/dev/null || { echo "python3-jsonschema is missing"; exit 77; }
command -v openssl >/dev/null || { echo "openssl is missing"; exit 77; }
cd "$(dirname "$0")"
for file in faults_test.py generated_test.py; do
    PYTHONDONTWRITEBYTECODE=1 python3 -W ignore::DeprecationWarning "$file"
done
