#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The codes that a verdict can have are those of the table in docs/measurement.md.
set -eu
cd "$ASSAY_SOURCE_DIR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tr -d '\n' <src/summary/validity.c | grep -oE '(INVALID|WARNING|SEVERITY_WARNING,) *\(? *"[a-z_]+"' | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u >"$work/code"
sed -n 's/^| .\([a-z_]*\). | \(invalid\|warning\|invalid or warning\) |.*/\1/p' docs/measurement.md | sort >"$work/page"
[ -s "$work/code" ] || { echo "no codes found in src/summary/validity.c"; exit 1; }
diff "$work/code" "$work/page" || { echo "docs/measurement.md (>) does not list the codes of src/summary/validity.c (<)"; exit 1; }
echo "$(wc -l <"$work/code") codes"
