#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Command lines of benchmark-report and assay report: stdout, stderr, exit status, files.
set -eu
program="$ASSAY_BUILD_DIR/benchmark-report"
assay="$ASSAY_BUILD_DIR/assay"
[ -x "$program" ] || exit 77
native="$ASSAY_SOURCE_DIR/tests/golden/brief/native"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# assay itself when it is built, else the lean program under its name: the same sources.
[ -x "$assay" ] || { cp "$program" "$work/assay"; assay="$work/assay"; }
cd "$work"
mkdir run
cd run
cp -R "$native"/. .
# shellcheck disable=SC2046 # names without blanks
unset $(env | sed -n 's/^\(LLMDBENCH_[A-Z_]*\)=.*/\1/p') || true
export TZ=UTC
failures=0

# check STATUS COMMAND…: out and err hold what it wrote.
check() {
    wanted=$1
    shift
    status=0
    "$@" >../out 2>../err || status=$?
    [ "$status" = "$wanted" ] || bad "exit $status, not $wanted: $*"
}
bad() {
    echo "FAILED: $*"
    sed 's/^/    /' ../err | head -5
    failures=$((failures + 1))
}
out() { grep -q -- "$1" ../out || bad "stdout has no '$1'"; }
err() { grep -q -- "$1" ../err || bad "stderr has no '$1'"; }
exists() { [ -s "$1" ] || bad "no $1"; }

# The command lines of the documentation.
check 0 "$program" --workload-generator inference-perf --br-version 0.2 ./stage_2_lifecycle_metrics.json ./report.yaml
exists report.yaml
[ ! -s ../out ] || bad "stdout is not empty"
check 0 "$program" -w guidellm -b 0.2 guidellm.json benchmark_report.yaml
exists benchmark_report_0.yaml
exists benchmark_report_1.yaml
[ ! -e benchmark_report.yaml ] || bad "benchmark_report.yaml is there"
check 0 "$program" guidellm.json other.yaml -w guidellm -b 0.2
check 0 "$program" guidellm.json -w guidellm -b 0.2 third.yaml
exists other_1.yaml
exists third_1.yaml
check 0 "$program" -w guidellm -b 0.2 -i 0 guidellm.json one.yaml
exists one.yaml
[ ! -e one_0.yaml ] || bad "one_0.yaml is there"
check 0 "$program" -w inference-perf -b 0.2 -s stage_1_session_lifecycle_metrics.json
out "session_performance:"
check 0 "$program" -w inference-perf -b 0.2 -s stage_1_session_lifecycle_metrics.json benchmark_report_session.yaml
exists benchmark_report_session.yaml

# Output.
check 0 "$program" -w guidellm guidellm.json
out "^# Benchmark 1 of 2$"
out "^# Benchmark 2 of 2$"
[ -z "$(tail -n 1 ../out)" ] || bad "no blank line at the end"
check 0 "$program" -w guidellm -i 0 guidellm.json
grep -q "^# Benchmark" ../out && bad "a banner for one benchmark"
check 0 "$program" vllm.json
out "^version: '0.1'$"
check 0 "$program" -b 0.2 vllm.json x.json
out_text=$(head -n 1 x.json)
[ "$out_text" = "results:" ] || bad "x.json is no YAML"
check 0 "$program" -b 0.2 --format json vllm.json y.json
/usr/bin/python3 -c 'import json; assert json.load(open("y.json"))["version"] == "0.2.1"' || bad "y.json"
check 0 "$program" -w guidellm -b 0.2 guidellm.json noextension
exists noextension_1
mkdir dir.d
check 0 "$program" -w guidellm -b 0.2 guidellm.json dir.d/name
exists dir.d/name_0
check 1 "$program" vllm.json none/out.yaml

# Existing files.
check 1 "$program" -b 0.2 vllm.json report.yaml
err "^Output file already exists: report.yaml$"
check 0 "$program" -b 0.2 -f vllm.json report.yaml
check 1 "$program" --no-force -b 0.2 vllm.json report.yaml
check 1 "$program" -w guidellm -b 0.2 guidellm.json benchmark_report.yaml
err "^Output file already exists: benchmark_report_0.yaml$"
check 0 "$program" -w guidellm -b 0.2 --force guidellm.json benchmark_report.yaml
check 0 "$program" -fb0.2 vllm.json /dev/null
[ -c /dev/null ] || bad "/dev/null was replaced"

# What is wrong is said, with the exit status of the original.
check 2 "$program"
check 2 "$program" a b c
check 2 "$program" -i x vllm.json
check 2 "$program" --unknown vllm.json
check 2 "$program" none.json
err "^File does not exist: none.json$"
check 2 "$program" dir.d
err "^Not a regular file: dir.d$"
check 1 "$program" -b 0.3 vllm.json
err "^Invalid benchmark report version: 0.3$"
check 1 "$program" -w other vllm.json
err "^Unsupported workload generator: other$"
check 1 "$program" -w nop -b 0.2 nop.yaml
err "not supported"
check 1 "$program" -w guidellm -b 0.2 -i 5 guidellm.json
err "no index 5"
check 1 "$program" -w guidellm -b 0.2 -i -1 guidellm.json
err "scenario.load.standardized.stage"
check 0 "$program" -w guidellm -i -1 guidellm.json
out "stage: -1"
check 1 "$program" -w guidellm vllm.json
err "benchmarks"
printf '{"date": ' >cut.json
check 1 "$program" cut.json
err "line 1"
check 1 "$program" -w inference-perf stage_3_lifecycle_metrics.json
err "metrics.throughput.total_tokens_per_sec"
head -c 3000000 /dev/zero | tr '\0' '[' >deep.json
check 1 "$program" deep.json
err "nested"

# The last of an option's values counts; a value may follow "=".
check 0 "$program" -w nop -w=guidellm -b=0.2 -i 1 -i=0 guidellm.json
out "stage: 0"
check 1 "$program" -f --no-force vllm.json report.yaml
check 0 "$program" --no-session -s --no-session vllm.json
check 2 "$program" -z vllm.json
err '"benchmark-report --help" lists them all'

# Results of another generator than the one asked for.
check 1 "$program" guidellm.json
err "look like those of another generator: -w guidellm$"
check 1 "$program" -w guidellm stage_1_session_lifecycle_metrics.json
err "another generator: -w inference-perf -s$"
check 1 "$program" -b 0.2 run-vlm/summary.json
err "another generator: -w assay$"
grep -q WARNING ../err && bad "warnings about members that other results have"

# Texts of a file do not reach the terminal as they are.
printf '{"model_id": "m\\u001b[31m", "num_prompts": "\\u001b[31m\\nx", "date": "\\u001b[2J"}' >steering.json
check 1 "$program" -b 0.2 steering.json
err 'not "?\[31m?x"'
printf 'version: 0.2.1\nrun: {uid: x, description: "d\\e[31m"}\n"\\e[31mkey\\nline": 2\nresults: {}\n' >steering.yaml
check 65 "$assay" report validate steering.yaml
out '^steering.yaml: ?\[31mkey?line: is not a field'
grep -v line steering.yaml >shown.yaml
check 0 "$assay" report show shown.yaml
out '^description *d?\[31m$'
LC_ALL=C grep -q "$(printf '\033')" ../out ../err && bad "an escape sequence is printed"

# Schemas.
check 0 "$program" -j
out '"title": "BenchmarkReportV01"'
check 0 "$program" -j -b 0.2
out '"title": "Benchmark Report v0.2.1"'
check 1 "$program" -jb 0.4

# Members that are missing are left out, and said.
sed 's/"[a-z]*_e2el_ms": [0-9.]*, *//g' vllm.json >no_e2el.json
check 0 "$program" -b 0.2 no_e2el.json
err "WARNING: results.request_performance.aggregate.latency.request_latency is left out"
check 0 "$program" -b 0.1 no_e2el.json

sed 's/"mean_ttft_ms": [0-9.]*/"mean_ttft_ms": 50000000.0/' vllm.json >late.json
check 0 "$program" -b 0.2 late.json
err "WARNING: latency.time_to_first_token is 5e+07 ms"

# Identity.
check 0 env LLMDBENCH_RUN_EXPERIMENT_ID=e1 "$program" -b 0.2 vllm.json
out "  description: 'org/model-a \[e1\]'"
[ ! -s ../err ] || bad "a warning where there is an experiment"
check 0 "$program" -b 0.2 vllm.json
err "no experiment ID"
check 0 env LLMDBENCH_DESCRIPTION_TEXT=variable "$program" -b 0.2 --run-description option --run-keywords 'x, y' vllm.json
out "  description: option"
out "  - x"
mkdir results
printf 'experiment_id: from-file\ndescription_text: text of the file\ndescription_keywords: k\n' >results/run_metadata.yaml
check 0 env LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR="$PWD/results" "$program" -b 0.2 vllm.json
out "  description: text of the file"
out "  - k"
check 0 env -i "$program" -b 0.2 vllm.json
check 0 env LLMDBENCH_DESCRIPTION_KEYWORDS=' ,, ' LLMDBENCH_DESCRIPTION_TEXT=' ' LLMDBENCH_RUN_EXPERIMENT_ID=' ' "$program" -b 0.2 vllm.json
grep -q "keywords\|description\|eid:" ../out && bad "something was made of blanks"
check 0 env LLMDBENCH_MAGIC_ENVAR=1 LLMDBENCH_HARNESS_LOAD_PARALLELISM=many "$program" -b 0.2 vllm.json
err 'WARNING: LLMDBENCH_HARNESS_LOAD_PARALLELISM: "many" is no count; 1 is recorded'
out "parallelism: 1$"
odd=$(printf 'a: #b\n\377\033[31m')
check 0 env LLMDBENCH_DESCRIPTION_TEXT="$odd" LLMDBENCH_RUN_EXPERIMENT_ID="$odd" LLMDBENCH_DESCRIPTION_KEYWORDS="$odd,$odd" "$program" -b 0.2 vllm.json odd.yaml
check 0 "$assay" report validate odd.yaml
/usr/bin/python3 -c 'import yaml; run = yaml.safe_load(open("odd.yaml"))["run"]; assert run["keywords"] == [run["description"]] * 2 and run["description"].startswith("a: #b\n"), run' || bad "odd texts of the environment"
# Numbers look the same in every locale.
for locale in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8; do
    check 0 env LC_ALL=$locale LLMDBENCH_RUN_EXPERIMENT_ID=e "$program" -b 0.2 vllm.json
    grep -v '  uid:' ../out >"locale-$locale"
    cmp -s locale-C "locale-$locale" || bad "another report in the locale $locale"
done

# A partial report of inference-perf beside the results.
mkdir partial
cp stage_2_lifecycle_metrics.json partial/
printf 'run: {uid: from-partial, eid: e}\nresults: {request_performance: {aggregate: {requests: {total: 7}}}}\n' >partial/inference-perf.partial.stage_2.yaml
check 0 "$program" -w inference-perf -b 0.2 partial/stage_2_lifecycle_metrics.json
out "uid: from-partial"
out "total: 7"
printf '{' >partial/inference-perf.partial.stage_2.yaml
check 0 "$program" -w inference-perf -b 0.2 partial/stage_2_lifecycle_metrics.json
err "partial report is not used"
out "total: 20"

# A folder.
mkdir folder
cp stage_*.json folder/
check 0 "$assay" report convert -b 0.2 folder
for name in stage_2_lifecycle_metrics.json stage_3_lifecycle_metrics.json stage_1_session_lifecycle_metrics.json; do
    exists "folder/benchmark_report_v0.2,_$name.yaml"
done
check 1 "$assay" report convert -b 0.2 folder
check 1 "$assay" report convert results
err "no \*stage_"

# Without -w the results are recognised; the folder of a run stands for its summary.
for name in aiperf.json guidellm.json nop.yaml stage_2_lifecycle_metrics.json stage_1_session_lifecycle_metrics.json vllm.json; do
    check 0 "$assay" report convert "$name" "recognised-$name.yaml"
done
exists recognised-guidellm.json_1.yaml
grep -q session_lifecycle recognised-stage_1_session_lifecycle_metrics.json.yaml || bad "the session file was not taken for one"
check 0 "$assay" report convert run-vlm/summary.json
out "^version: 0.2.1$"
check 0 "$assay" report convert run-vlm
out "tool: metrumbench-vlm"
check 0 "$assay" report convert -w assay run-vlm run-vlm/later.yaml
check 0 "$assay" report validate run-vlm/later.yaml
check 1 "$assay" report convert -w assay run-vlm run-vlm/later.yaml
check 1 "$assay" report convert -w guidellm run-vlm
err "is a folder; of guidellm results the file has to be named"
check 1 "$assay" report convert -w assay folder
err "folder: no summary.json of a run in it"
check 2 "$program" -w assay run-vlm

# The other subcommands.
check 0 "$assay" report validate report.yaml one.yaml y.json "folder/benchmark_report_v0.2,_stage_2_lifecycle_metrics.json.yaml"
out "^report.yaml: valid, version 0.2.1$"
printf 'version: 0.2.1\nrun:\n  uid: 5\nresults:\n  foo: 1\n' >bad.yaml
check 65 "$assay" report validate report.yaml bad.yaml
out "^bad.yaml: run.uid: must be text, not 5 (line 3)$"
out "^bad.yaml: results.foo: .*(line 5)$"
check 65 "$assay" report validate --json bad.yaml
/usr/bin/python3 -c 'import json; v = json.load(open("../out")); assert v[0]["valid"] is False and v[0]["errors"][0] == {"path": "run.uid", "message": "must be text, not 5", "line": 3}' || bad "validate --json"
check 66 "$assay" report validate none.yaml
mkdir run && cp report.yaml run/benchmark_report.yaml
check 0 "$assay" report validate run
check 0 "$assay" report diff run report.yaml
check 66 "$assay" report validate folder
# shellcheck disable=SC2016 # the inner shell's own $0
check 0 sh -c '"$0" report validate - <report.yaml' "$assay"
check 0 "$assay" report show report.yaml
out "^latency.time_to_first_token  *ms  *50.5"
check 65 "$assay" report show bad.yaml
check 0 "$assay" report convert -w inference-perf stage_2_lifecycle_metrics.json old.yaml
check 0 "$assay" report diff old.yaml benchmark_report_0.yaml
out "^latency.time_to_first_token  *mean  *s  *0.04  *0.0205  *-48.75%$"
out "^throughput.request_rate  *queries/s  *1.8  *13.75"
out "^note: the load generators differ and may define figures of one name differently: A inference-perf, B guidellm$"
for run in vlm asr imagegen; do
    check 0 "$assay" report convert run-$run $run.yaml
done
check 0 "$assay" report diff vlm.yaml imagegen.yaml
out "^note: they measure different things: A text and images, B images$"
check 0 "$assay" report diff one.yaml imagegen.yaml
out "^note: they measure different things: A text, B images$"
check 0 "$assay" report diff imagegen.yaml imagegen.yaml
grep -q "^note" ../out && bad "a note about a report and itself"
# shellcheck disable=SC2016 # the inner shell's own $0
check 65 sh -c 'printf "{" | "$0" report validate -' "$assay"
out "^standard input: "
check 0 "$assay" report schema 0.1
out '"WorkloadGenerator"'
check 2 "$assay" report schema 0.3
check 2 "$assay" report
check 2 "$assay" report bogus
check 0 "$assay" report convert --help
out "^usage: assay report convert"
check 0 "$program" --help
out "^usage: benchmark-report \[options\] RESULTS \[OUTPUT\]$"
grep -q "ASSAY_" ../out && bad "the help speaks of an environment that is not read"
check 0 "$program" --man
out '^\.B benchmark.-report$'
out '^\.fi$'
grep -q "ASSAY_" ../out && bad "the manual page speaks of an environment that is not read"
check 0 env ASSAY_FORCE=true ASSAY_BR_VERSION=0.9 "$program" vllm.json
check 0 "$assay" report convert -w assay "$ASSAY_SOURCE_DIR/tests/golden/summary/summary.json" assay.yaml
check 0 "$assay" report validate assay.yaml

# The page holds the models as they are.
"$assay" report schema --form page 0.2.1 >model.md
awk '/<!-- model 0.2.1 -->/ { on = 1; next } /<!-- end -->/ { on = 0 } on' "$ASSAY_SOURCE_DIR/docs/benchmark-report.md" | cmp -s - model.md || bad "docs/benchmark-report.md: not the model 0.2.1"
"$assay" report schema --form page 0.1 >model.md
awk '/<!-- model 0.1 -->/ { on = 1; next } /<!-- end -->/ { on = 0 } on' "$ASSAY_SOURCE_DIR/docs/benchmark-report.md" | cmp -s - model.md || bad "docs/benchmark-report.md: not the model 0.1"

[ "$failures" = 0 ] || exit 1
