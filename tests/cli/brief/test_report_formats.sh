#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files of a run are independent of each other: a run without any success has all of them, and where one cannot be
# written the others are whole.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
[ -x "$assay" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export METRUM_SKIP_NTP_CHECK=true
failures=0
bad() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
printf '{"prompt":"one"}\n{"prompt":"two"}\n' >prompts.jsonl

# run STATUS FOLDER [OPTION]…: against a port that refuses.
run() {
    wanted=$1
    folder=$2
    shift 2
    status=0
    "$assay" llm --url http://127.0.0.1:1 --model m --prompts prompts.jsonl --num-requests 4 --quiet --result-dir "$folder" "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || bad "$folder: exit $status, not $wanted: $(cat err)"
}
whole() {
    for name in "$@"; do
        [ -s "$folder/$name" ] || bad "$folder: no $name"
    done
}

run 0 nothing
whole requests.jsonl summary.json data.jsonl benchmark_report.yaml run.json command.txt
"$assay" report validate nothing >/dev/null || bad "the report of a run without success is not valid"
[ "$(wc -l <nothing/requests.jsonl)" = 4 ] || bad "records"
run 0 quiet --console none
whole requests.jsonl summary.json data.jsonl benchmark_report.yaml
[ ! -s out ] || bad "--console none prints: $(cat out)"
run 0 block --console vllm
whole requests.jsonl summary.json data.jsonl benchmark_report.yaml

mkdir -p report/benchmark_report.yaml
run 74 report
whole requests.jsonl summary.json data.jsonl run.json command.txt
grep -q 'report/benchmark_report.yaml' err || bad "the message does not name the report: $(cat err)"
grep -q '4 failed' out || bad "the table is missing"

mkdir -p log/data.jsonl
run 74 log
whole requests.jsonl summary.json benchmark_report.yaml
run 66 elsewhere --data-log "$work/no/such/folder/log.jsonl" # seen before anything is sent
[ ! -s elsewhere/requests.jsonl ] || bad "requests were sent although their log has no place"
[ "$failures" = 0 ]
