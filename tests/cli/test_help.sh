#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, version and the ways to call the program: on stdout, exit 0, no wider than the terminal, the same by each way.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAIL: $*"; exit 1; }

commands=$("$assay" help | awk '/^Commands:/ { on = 1; next } on && NF { print $1 }')
checked=0
for command in $commands; do
    case $command in fetch | media) continue ;; esac
    for width in 60 80 120; do
        COLUMNS=$width "$assay" help "$command" >page 2>err || fail "help $command"
        [ ! -s err ] || fail "help $command writes to stderr"
        # examples and long option names keep their lines
        python3 -c '
import sys
lines = open("page", encoding="utf-8").read().split("\nExamples:")[0].splitlines()
wide = [line for line in lines if len(line) > int(sys.argv[1]) and not line.startswith(("  --", "usage:"))]
sys.exit("\n".join(["too wide:", *wide]) if wide else 0)' "$width" || fail "help $command at $width"
    done
    COLUMNS=80 "$assay" help "$command" >one
    COLUMNS=80 "$assay" "$command" --help >two
    cmp one two || fail "$command: help differs"
    if grep -q "^usage: .* \[options\]" one; then
        COLUMNS=80 "$assay" "$command" --nonsense -h >three || fail "$command --nonsense -h"
        cmp one three || fail "$command: help differs after a mistake"
    fi
    grep -q "^usage: assay $command" one || fail "$command: no usage line"
    checked=$((checked + 1))
done
[ "$checked" -ge 4 ] || fail "only $checked commands"

# A command's parts have their own pages.
for part in "asr import-librispeech" "imagegen verify" "imagegen compare" "report convert" "report schema"; do
    # shellcheck disable=SC2086  # two words
    COLUMNS=80 "$assay" help $part >one || fail "help $part"
    # shellcheck disable=SC2086
    COLUMNS=80 "$assay" $part --help >two || fail "$part --help"
    cmp one two || fail "$part: help differs"
    grep -q "^usage: assay $part" one || fail "$part: no usage line"
done

"$assay" --help >one
"$assay" help >two
cmp one two || fail "--help and help differ"

"$assay" --version >version
for line in 'assay [0-9]*\.[0-9]*\.[0-9]*$' 'commit [0-9a-z]* *\((modified)\)\{0,1\}$' 'compiler \(gcc\|clang\) [0-9.]*$' 'build [A-Z]' 'flags .*-O'; do
    grep -q "^$line" version || { cat version; fail "no line $line in --version"; }
done
"$assay" version | cmp - version
"$ASSAY_BUILD_DIR/metrumbench-llm" --version | cmp - version
"$ASSAY_BUILD_DIR/metrumbench-llm" --help >one
"$assay" llm --help >two
cmp one two || fail "metrumbench-llm is another tool"

# A name of another folder still finds the programs beside the real one.
ln -s "$assay" "$work/elsewhere"
"$work/elsewhere" fetch </dev/null >/dev/null 2>err || true
! grep -q "not installed" err || fail "assay-fetch is not found through a link"

# A full disk or a closed pipe under stdout is an error, not silence.
if [ -e /dev/full ]; then
    code=0
    "$assay" help llm >/dev/full 2>err || code=$?
    [ "$code" = 74 ] || fail "help to a full disk gave $code"
fi

# The documents: manual pages, schema, completion.
"$assay" help llm --format schema | python3 -c '
import json, sys
schema = json.load(sys.stdin)
assert schema["additionalProperties"] is False and len(schema["properties"]) > 60, schema.keys()
assert schema["properties"]["concurrency"]["minimum"] == 1'
if command -v bash >/dev/null; then
    "$assay" help --format bash >completion
    bash -c '. ./completion
        words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _assay; echo "${COMPREPLY[*]}"; }
        [ "$(words assay ll)" = llm ] || exit 1
        [ "$(words assay llm --load-b)" = --load-balancer ] || exit 2
        [ "$(words assay llm --mode ch)" = chat ] || exit 3
        [ "$(words metrumbench-llm --mode c)" = "chat completion" ] || exit 4' || fail "completion: case $?"
fi
echo "$checked commands"
