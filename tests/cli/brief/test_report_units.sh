#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Units are part of the figures: reports that give the same latency in ms and in s agree, those that differ by a thousand
# do not, and a figure without a unit or with one of another kind is refused at its path.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
[ -x "$assay" ] || exit 77
/usr/bin/python3 -c 'import yaml' 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$ASSAY_BUILD_DIR/benchmark-report" -w vllm-benchmark -b 0.2 "$ASSAY_SOURCE_DIR/tests/golden/brief/native/vllm.json" ms.yaml 2>/dev/null
exec /usr/bin/python3 - "$assay" <<'EOF'
import copy, subprocess, sys, yaml

assay = sys.argv[1]
native = yaml.safe_load(open("ms.yaml", encoding="utf-8"))
failures = []


def ttft(report):
    return report["results"]["request_performance"]["aggregate"]["latency"]["time_to_first_token"]


def write(name, change):
    report = copy.deepcopy(native)
    change(ttft(report))
    with open(name, "w", encoding="utf-8") as file:
        yaml.safe_dump(report, file)


def scaled(factor, units):
    def change(figures):
        for name, value in figures.items():
            if isinstance(value, (int, float)):
                figures[name] = value * factor
        figures["units"] = units
    return change


def call(*words):
    run = subprocess.run([assay, "report", *words], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def ttft_mean(text):
    return [line for line in text.splitlines() if "time_to_first_token" in line and "mean" in line]


def expect(condition, what, text):
    if not condition:
        failures.append(f"{what}: {text[:400]}")


expect(ttft(native)["units"] == "ms", "the native unit", str(ttft(native)))
write("s.yaml", scaled(0.001, "s"))      # the same times; the other latencies of the report stay in ms
write("wrong.yaml", scaled(1, "s"))      # a thousand times as long
write("none.yaml", lambda figures: figures.pop("units"))
write("kind.yaml", lambda figures: figures.update(units="tokens/s"))
code, text = call("validate", "s.yaml")
expect(code == 0, "s and ms in one report are valid", text)
same, mistaken = call("diff", "ms.yaml", "s.yaml"), call("diff", "ms.yaml", "wrong.yaml")
expect([line.split()[-5:] for line in ttft_mean(same[1])] == [["mean", "ms", "50.5", "50.5", "+0.00%"]], "equal times in ms and s differ", same[1])
expect([line.split()[-5:-1] for line in ttft_mean(mistaken[1])] == [["mean", "ms", "50.5", "50500"]], "a factor of a thousand is not seen", mistaken[1])
for name in ("none.yaml", "kind.yaml"):
    code, text = call("validate", name)
    expect(code == 65 and "time_to_first_token" in text and "units" in text, name, text)
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
EOF
