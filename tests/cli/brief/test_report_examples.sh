#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every example of the manual page of benchmark-report, of the help of assay report and its subcommands, and of
# docs/benchmark-report.md runs as it stands.
set -eu
program="$ASSAY_BUILD_DIR/benchmark-report"
[ -x "$program" ] || exit 77
golden="$ASSAY_SOURCE_DIR/tests/golden/brief"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/files"
ln -s "$program" "$work/bin/benchmark-report"
# assay itself when it is built, else the lean program under its name: the same sources.
if [ -x "$ASSAY_BUILD_DIR/assay" ]; then ln -s "$ASSAY_BUILD_DIR/assay" "$work/bin/assay"; else cp "$program" "$work/bin/assay"; fi
PATH="$work/bin:$PATH"
export PATH TZ=UTC
cd "$work/files"
cp "$golden/native/stage_2_lifecycle_metrics.json" stage_0_lifecycle_metrics.json
cp "$golden/native/stage_1_session_lifecycle_metrics.json" stage_0_session_lifecycle_metrics.json
cp "$golden/native/guidellm.json" results.json
cp "$golden/native/run-vlm/summary.json" summary.json
benchmark-report -w guidellm -b 0.2 -i 0 results.json ../before.yaml 2>/dev/null
benchmark-report -w guidellm -b 0.2 -i 1 results.json ../after.yaml 2>/dev/null

examples="$work/examples"
# The manual page as a reader sees it: roff's escapes of "-" and "." undone.
benchmark-report --man | sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' | sed 's/\\-/-/g; s/\\&//g' | grep -E '^ *(benchmark-report|assay) ' >"$examples"
[ "$(wc -l <"$examples")" -ge 3 ] || { echo "the manual page has no examples"; exit 1; }
for words in "report" "report convert" "report validate" "report show" "report diff" "report schema"; do
    # shellcheck disable=SC2086 # words of a command
    assay $words --help | sed -n '/^Examples:/,$p' >"$work/one"
    grep -E '^ *(benchmark-report|assay) ' "$work/one" >>"$examples" || { echo "assay $words: no example"; exit 1; }
done
sed -n '/^## Converting/,/^## /p' "$ASSAY_SOURCE_DIR/docs/benchmark-report.md" | grep -E '^    (benchmark-report|assay) ' >>"$examples"

failures=0
count=0
while IFS= read -r example; do
    # What an example writes may be there from the one before it.
    rm -f benchmark_report*.yaml
    cp ../before.yaml ../after.yaml .
    case $example in *" report validate "* | *" report show "*) cp before.yaml benchmark_report.yaml ;; esac
    count=$((count + 1))
    sh -c "$example" >../out 2>../err </dev/null || { echo "FAILED: $example"; sed 's/^/    /' ../err; failures=$((failures + 1)); }
done <"$examples"
[ "$failures" = 0 ] || exit 1
echo "$count examples"
