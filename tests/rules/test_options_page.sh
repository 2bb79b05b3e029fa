#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/options.md is what the option tables say now.
set -eu
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$ASSAY_BUILD_DIR/assay" help --format markdown >"$new"
diff -u "$ASSAY_SOURCE_DIR/docs/options.md" "$new" || {
    echo "docs/options.md is out of date: run script/docs"
    exit 1
}
