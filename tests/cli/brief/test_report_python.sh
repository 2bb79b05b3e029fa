#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python module and Debian's YAML and JSON Schema packages against what we write.
set -eu
python=/usr/bin/python3
library="$ASSAY_BUILD_DIR/libassay-report.so.0"
[ -e "$library" ] || exit 77
# A sanitized library cannot be loaded by an interpreter that is not.
grep -q '^ASSAY_SANITIZE:STRING=.' "$ASSAY_BUILD_DIR/CMakeCache.txt" && exit 77
"$python" -c 'import yaml, jsonschema' 2>/dev/null || exit 77
TZ=UTC ASSAY_REPORT_LIBRARY="$library" ASSAY_REPORT_PROGRAM="$ASSAY_BUILD_DIR/benchmark-report" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ASSAY_SOURCE_DIR/python" \
    exec "$python" "$ASSAY_SOURCE_DIR/tests/cli/brief/check_python.py" "$ASSAY_SOURCE_DIR/tests/golden/brief" "${ASSAY_REPORT_DATA:-$ASSAY_SOURCE_DIR/../shared/benchmark-report}"
