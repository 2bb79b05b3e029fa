#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What cannot be printed or written takes no other output of the run with it (independent_test.py).
set -eu
[ -x "$ASSAY_BUILD_DIR/assay" ] || exit 77
/usr/bin/python3 -c 'import yaml' 2>/dev/null || exit 77
METRUM_SKIP_NTP_CHECK=true exec /usr/bin/python3 "$ASSAY_SOURCE_DIR/tests/e2e/brief/independent_test.py" "$ASSAY_BUILD_DIR/assay"
