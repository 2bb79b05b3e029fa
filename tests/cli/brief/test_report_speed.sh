#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A 100 MB guidellm file: at least 150 MB/s and at most 64 MiB of memory; a file of figures only: at least 40 MB/s of CPU time,
# or well below what Python's json takes for it in the same run; a small conversion starts and ends within 4 times an empty program's time. Best of several runs, ratios in one run.
set -eu
program="$ASSAY_BUILD_DIR/benchmark-report"
[ -x "$program" ] || exit 77
grep -q '^ASSAY_SANITIZE:STRING=.\|^ASSAY_COVERAGE:BOOL=ON\|^CMAKE_BUILD_TYPE:STRING=Debug' "$ASSAY_BUILD_DIR/CMakeCache.txt" && exit 77
command -v gcc >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' >"$work/empty.c"
gcc -O2 "$work/empty.c" -o "$work/empty"
exec /usr/bin/python3 "$ASSAY_SOURCE_DIR/tests/cli/brief/check_speed.py" "$program" "$work" "$ASSAY_SOURCE_DIR/tests/golden/brief/native"
