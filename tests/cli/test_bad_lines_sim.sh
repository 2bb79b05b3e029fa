#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of bad_lines_sim.txt gives its exit status and its message, prints nothing on stdout and leaves no file behind; every
# option of sim and selftest is in the table.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
table="$ASSAY_SOURCE_DIR/tests/cli/bad_lines_sim.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/empty"
cd "$work/empty"
failed=0
checked=0

while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    arguments=$(printf '%s' "$arguments" | sed 's/SIM/sim --port 0/')
    eval "set -- $arguments"
    code=0
    timeout 20 "$assay" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    checked=$((checked + 1))
    if [ "$code" != "$((status))" ] || ! grep -qF -- "$message" "$work/err" || [ -s "$work/out" ] || [ -n "$(ls)" ]; then
        failed=$((failed + 1))
        echo "FAIL: assay$arguments"
        echo "  wanted $status: $message"
        echo "  got $code: $(cat "$work/err")"
        [ ! -s "$work/out" ] || echo "  and on stdout: $(head -n 1 "$work/out")"
    fi
done <"$table"

for command in sim selftest; do
    for option in $("$assay" help "$command" | sed -n 's/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
        grep -qi "| *$command.* --${option}[ =|]" "$table" || {
            failed=$((failed + 1))
            echo "FAIL: $command --$option has no bad value in bad_lines_sim.txt"
        }
    done
done
[ "$checked" -ge 60 ] || { echo "only $checked lines were looked at"; exit 1; }
echo "$checked lines, $failed failed"
[ "$failed" = 0 ]
