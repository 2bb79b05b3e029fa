#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of bad_lines.txt gives its exit status and its message, prints nothing on stdout and leaves no file behind; every option
# of llm and summarize is in the table.
set -eu
here="$ASSAY_SOURCE_DIR/tests/cli"
assay="$ASSAY_BUILD_DIR/assay"
table="$here/bad_lines.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"prompt": "one"}' >prompts.jsonl
unset ASSAY_URL OPENAI_API_KEY
failed=0
checked=0

while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    arguments=$(printf '%s' "$arguments" | sed 's/BASE/--url http:\/\/127.0.0.1:9 --prompts prompts.jsonl/; s/--prompts p\( \|$\)/--prompts prompts.jsonl\1/')
    eval "set -- $arguments"
    code=0
    "$assay" "$@" >out 2>err </dev/null || code=$?
    checked=$((checked + 1))
    if [ "$code" != "$((status))" ] || ! grep -qF -- "$message" err || [ -s out ] || [ -e assay-results ]; then
        failed=$((failed + 1))
        echo "FAIL: assay$arguments"
        echo "  wanted $status: $message"
        echo "  got $code: $(cat err)"
        [ ! -s out ] || echo "  and on stdout: $(head -n 1 out)"
        rm -rf assay-results
    fi
done <"$table"

for command in llm summarize; do
    for option in $("$assay" help "$command" | sed -n 's/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
        grep -q "| *$command.* --${option}[ =|]" "$table" || {
            failed=$((failed + 1))
            echo "FAIL: $command --$option has no bad value in bad_lines.txt"
        }
    done
done
[ "$checked" -ge 100 ] || { echo "only $checked lines were looked at"; exit 1; }
echo "$checked lines, $failed failed"
[ "$failed" = 0 ]
