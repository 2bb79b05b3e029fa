#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of bad_lines_asr.txt gives its exit status and its message, prints nothing on stdout and leaves no file behind; every option
# that `assay asr` alone has is in the table.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
table="$ASSAY_SOURCE_DIR/tests/cli/bad_lines_asr.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"id": "a", "path": "a.wav"}' >manifest.jsonl
printf '%s\n' '{"id": "a", "path": "a.wav"}' '{"id": "b", "path": "b.aiff", "format": "aiff"}' >bad.jsonl
printf '%s\n' '{"id": "a", "path": "a.wav"}' '{"id": "a", "path": "b.wav"}' >twice.jsonl
echo '{"id": "zzz", "transcript": "other"}' >other.jsonl
echo >nothing.jsonl
echo '[]' >allbad.jsonl
unset ASSAY_URL OPENAI_API_KEY
ls >before
failed=0
checked=0

while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    arguments=$(printf '%s' "$arguments" | sed 's/BASE/--url http:\/\/127.0.0.1:9 --input manifest.jsonl/')
    eval "set -- $arguments"
    code=0
    "$assay" "$@" >../out.$$ 2>../err.$$ </dev/null || code=$?
    checked=$((checked + 1))
    if [ "$code" != "$((status))" ] || ! grep -qF -- "$message" ../err.$$ || [ -s ../out.$$ ] || [ "$(ls)" != "$(cat before)" ]; then
        failed=$((failed + 1))
        echo "FAIL: assay$arguments"
        echo "  wanted $status: $message"
        echo "  got $code: $(cat ../err.$$)"
    fi
done <"$table"
rm -f ../out.$$ ../err.$$

"$assay" help llm >llm.help
for option in $("$assay" help asr | sed -n 's/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
    grep -q -- "--\(\[no-\]\)\{0,1\}${option}[ =]" llm.help && continue
    grep -q "| *asr.* --${option}[ =|]" "$table" || {
        failed=$((failed + 1))
        echo "FAIL: asr --$option has no bad value in bad_lines_asr.txt"
    }
done
[ "$checked" -ge 30 ] || { echo "only $checked lines were looked at"; exit 1; }
echo "$checked lines, $failed failed"
[ "$failed" = 0 ]
