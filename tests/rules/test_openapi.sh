#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# schema/openapi.yaml is what the route table says now.
set -eu
serve="$ASSAY_BUILD_DIR/libexec/assay/assay-serve"
[ -x "$serve" ] || { echo "assay-serve is not built"; exit 77; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$serve" openapi >"$new"
diff -u "$ASSAY_SOURCE_DIR/schema/openapi.yaml" "$new" | head -40
cmp -s "$ASSAY_SOURCE_DIR/schema/openapi.yaml" "$new" || {
    echo "schema/openapi.yaml is out of date: assay serve openapi > schema/openapi.yaml"
    exit 1
}
