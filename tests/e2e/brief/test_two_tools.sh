#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reports of two tools that measured one simulator (two_tools_test.py).
set -eu
[ -x "$ASSAY_BUILD_DIR/assay" ] && [ -x "$ASSAY_BUILD_DIR/benchmark-report" ] || exit 77
/usr/bin/python3 -c 'import yaml' 2>/dev/null || exit 77
METRUM_SKIP_NTP_CHECK=true exec /usr/bin/python3 "$ASSAY_SOURCE_DIR/tests/e2e/brief/two_tools_test.py" "$ASSAY_BUILD_DIR/assay" "$ASSAY_BUILD_DIR/benchmark-report"
