#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Conversion of results that lack something (check_lacking.py).
set -eu
[ -x "$ASSAY_BUILD_DIR/benchmark-report" ] || exit 77
/usr/bin/python3 -c 'import yaml' 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 "$ASSAY_SOURCE_DIR/tests/cli/brief/check_lacking.py" "$ASSAY_SOURCE_DIR/tests/golden/brief/native" "$ASSAY_BUILD_DIR/benchmark-report" "$work"
