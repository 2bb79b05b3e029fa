#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorded runs of the llm-d converter against ours, and its examples. Skipped without the data (ASSAY_REPORT_DATA).
set -eu
data="${ASSAY_REPORT_DATA:-$ASSAY_SOURCE_DIR/../shared/benchmark-report}"
program="$ASSAY_BUILD_DIR/benchmark-report"
[ -f "$data/cases.json" ] && [ -x "$program" ] || exit 77
/usr/bin/python3 -c 'import yaml' 2>/dev/null || exit 77
exec /usr/bin/python3 "$ASSAY_SOURCE_DIR/tests/cli/brief/check_cases.py" "$data" "$program"
