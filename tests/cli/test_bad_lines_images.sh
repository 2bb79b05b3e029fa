#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of bad_lines_images.txt gives its exit status and its message, prints nothing on stdout and leaves no file behind; every option
# that `assay vlm` or `assay imagegen` has and `assay llm` has not is in the table.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
table="$ASSAY_SOURCE_DIR/tests/cli/bad_lines_images.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"prompt": "a", "image_url": "a.png"}' >images.jsonl
echo '{"prompt": "a"}' >plain.jsonl
echo '{"prompt": "a", "image_url": "a.png", "image_urls": ["a.png"]}' >both.jsonl
echo '{"prompt": "a", "size": "big"}' >size.jsonl
unset ASSAY_URL OPENAI_API_KEY
ls >before
failed=0
checked=0

while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    arguments=$(printf '%s' "$arguments" | sed -e 's/VLM/vlm --url http:\/\/127.0.0.1:9 --model m --prompts images.jsonl/' \
        -e 's/IMG/imagegen --url http:\/\/127.0.0.1:9 --model m --prompts plain.jsonl/')
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
for tool in vlm imagegen; do
    for option in $("$assay" help $tool | sed -n 's/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
        grep -q -- "--\(\[no-\]\)\{0,1\}${option}[ =]" llm.help && continue
        grep -q -- "--${option}[ =|]" "$table" || {
            failed=$((failed + 1))
            echo "FAIL: $tool --$option has no bad value in bad_lines_images.txt"
        }
    done
done
[ "$checked" -ge 30 ] || { echo "only $checked lines were looked at"; exit 1; }
echo "$checked lines, $failed failed"
[ "$failed" = 0 ]
