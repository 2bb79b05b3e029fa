#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# assay prompts: the examples of docs/prompts.md against a simulated server, what they leave behind, and bad lines (bad_lines_prompts.txt).
set -eu
assay="$ASSAY_BUILD_DIR/assay"
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
fail() { echo "FAIL: $*"; exit 1; }

python3 - <<'PYTHON'
import json
rows = [{"id": f"c{i}", "conversations": [{"from": "human", "value": " ".join(["word"] * (2 + i))},
                                          {"from": "gpt", "value": " ".join(["answer"] * 100)}]} for i in range(600)]
rows += [{"id": "none"}, 7, {"conversations": [{"from": "gpt", "value": "alone"}]}, {"conversations": [{"from": "human", "value": "open"}]}]
json.dump(rows, open("conversations.json", "w"))
PYTHON
printf 'First paragraph,\r\ntwo lines.\n\n\nSecond.\n' >essays.txt
mkdir photos
cp "$ASSAY_SOURCE_DIR"/data/images/*.png "$ASSAY_SOURCE_DIR"/data/images/*.jpg "$ASSAY_SOURCE_DIR"/data/images/*.webp photos
cp "$ASSAY_SOURCE_DIR/data/images/prompts.jsonl" photos

mkfifo ready
"$assay" sim --port 0 --tokens-per-word 1.5 >ready 2>sim.err &
server=$!
read -r url <ready

sed -n 's/^    \(assay prompts .*\)$/\1/p' "$ASSAY_SOURCE_DIR/docs/prompts.md" |
    sed "s|^assay|\$assay|; s|http://127.0.0.1:8000|$url|" >examples
[ "$(wc -l <examples)" -ge 11 ] || fail "only $(wc -l <examples) examples"
while read -r line; do
    eval "$line" >out 2>err </dev/null || fail "$line: $(cat err)"
done <examples

has() { grep -qF -- "$2" "$1" || fail "$1 lacks: $2"; }
[ "$(wc -l <library.jsonl)" = 601 ] || fail "library.jsonl has $(wc -l <library.jsonl) lines"
has library.jsonl '{"id":"c1","prompt":"word word word","expected_output_tokens":130}'
has library.jsonl.meta.json '"no_turns": 2'
has library.jsonl.meta.json '"no_human_turn": 1'
has library.jsonl.meta.json '"without_answer": 1'
[ "$(cat essays.jsonl)" = '{"prompt":"First paragraph,\ntwo lines."}
{"prompt":"Second."}' ] || fail "essays.jsonl: $(cat essays.jsonl)"
has isl512.jsonl.meta.json '"taken": 20'
has photo-snapshot/manifest.json '"type": "metrumbench_vlm_snapshot"'
has picture-snapshot/manifest.json '"type": "metrumbench_imagegen_snapshot"'
has picture-snapshot/manifest.json '"rows": 1024'
python3 - <<'PYTHON'
import json
c = json.load(open("calibration.json"))
assert abs(c["tokens_per_word"] - 1.5) < 0.05 and c["overhead_tokens"] >= 0 and c["samples"] == 32, c
meta = json.load(open("isl512.jsonl.meta.json"))["sample"]
assert meta["tokens"]["min"] >= 384 and meta["tokens"]["max"] <= 640, meta
PYTHON

# The tools take what was made; what was changed is found.
"$assay" llm --url "$url" --prompts isl512.jsonl --num-requests 4 --console none --quiet --result-dir run --skip-ntp-check || fail "assay llm"
"$assay" prompts verify isl512.jsonl --quiet >out || fail "verify"
[ ! -s out ] || fail "verify --quiet prints"
sed 's/word/sword/' isl512.jsonl >changed && mv changed isl512.jsonl
code=0; "$assay" prompts verify isl512.jsonl 2>err || code=$?
[ "$code" = 65 ] || fail "a changed library: exit $code"
printf x >>photo-snapshot/red-disc.png
code=0; "$assay" prompts verify photo-snapshot 2>err || code=$?
{ [ "$code" = 65 ] && grep -q 'red-disc.png is not the file' err; } || fail "a changed snapshot: exit $code, $(cat err)"
printf '%s' '{"schema":"assay.snapshot.v1","code":"x","type":"y","files":[{"path":"a/../../etc","bytes":1,"sha256":"0"}]}' >picture-snapshot/manifest.json
code=0; "$assay" prompts verify picture-snapshot 2>err || code=$?
{ [ "$code" = 65 ] && grep -q 'no path inside' err; } || fail "a path outside: exit $code, $(cat err)"

# A LibriSpeech folder becomes a snapshot.
mkdir -p speech/1/2
cp "$ASSAY_SOURCE_DIR/data/audio/seven-boats.flac" speech/1/2/1-2-0000.flac
echo '1-2-0000 SEVEN BOATS' >speech/1/2/1-2.trans.txt
"$assay" prompts import-librispeech speech --code my-speech >out || fail "import-librispeech"
has speech/manifest.json '"type": "metrumbench_asr_snapshot"'
has speech/manifest.json '1/2/1-2-0000.flac'
"$assay" prompts verify speech >out || fail "verify speech"

# Bad lines.
echo '{"prompt": "a b"}' >one.jsonl
echo '{"prompt": "a", "image_url": "../one.jsonl"}' >outside.jsonl
echo '{"prompt": "a", "image_url": "prompts.jsonl"}' >noimage.jsonl
echo '{}' >empty.json
: >after
ls >before
checked=0
while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    eval "set -- $arguments"
    code=0
    "$assay" prompts "$@" >../out.$$ 2>../err.$$ </dev/null || code=$?
    checked=$((checked + 1))
    if [ "$code" != "$((status))" ] || ! grep -qF -- "$message" ../err.$$ || [ -s ../out.$$ ]; then
        cat ../err.$$
        rm -f ../out.$$ ../err.$$
        fail "assay prompts$arguments: wanted $status: $message; got $code"
    fi
done <"$ASSAY_SOURCE_DIR/tests/cli/bad_lines_prompts.txt"
rm -f ../out.$$ ../err.$$
rm -rf refused
ls >after
cmp before after || fail "files were left behind"
[ "$checked" -ge 40 ] || fail "only $checked lines were looked at"
for part in import sample calibrate generate show verify import-images import-list import-librispeech; do
    for option in $("$assay" help prompts "$part" | sed -n '/^Endpoints:/,/^[A-Z][a-z]*:$/d; s/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
        grep -q "| *$part .*--$option" "$ASSAY_SOURCE_DIR/tests/cli/bad_lines_prompts.txt" || fail "$part --$option has no bad value in the table"
    done
done
echo "$checked bad lines"
