#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replays recorded server answers, byte for byte, against the built tools. The cases are not part of this repository: they are looked for
# in $ASSAY_CASES_DIR, else in ../shared/cases beside the project; without them the test is skipped.
set -eu

cases=${ASSAY_CASES_DIR:-$ASSAY_SOURCE_DIR/../shared/cases}
assay=$ASSAY_BUILD_DIR/assay
if [ ! -f "$cases/replay.py" ]; then
    echo "skipped: no cases in $cases"
    exit 77
fi

kinds=
for kind in llm vlm asr imagegen; do
    if "$assay" "$kind" --help >/dev/null 2>&1; then kinds="$kinds${kinds:+,}$kind"; fi
done
[ -n "$kinds" ] || { echo "this build has none of the tools"; exit 1; }

# The folder may be read-only: no byte code is written there. Times may be late on a machine that does other work, too.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$cases/replay.py" --kind "$kinds" -j 4 --late-ms 1000 \
    --command "$assay {kind} --url {url} --model {model} --num-requests {num} --concurrency 1 --result-dir {dir} {options}"
