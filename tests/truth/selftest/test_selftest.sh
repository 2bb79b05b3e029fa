#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A short self-test: every load succeeds, and the recorded times are those of the truth log. The machine may be busy: medians are judged.
set -eu
"$ASSAY_BUILD_DIR/assay" selftest --seconds 1 --max-streams 250 --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
loads = {load["name"]: load for load in report["loads"]}
assert report["schema"] == "assay-selftest.v1" and set(loads) == {"requests", "bulk", "paced"}, report
for load in loads.values():
    assert load["ok"] > 0 and load["failed"] == 0, load
assert loads["requests"]["client_cpu_us_per_request"] > 0 and loads["requests"]["client_cpu_us_per_chunk"] is None
assert 0 < loads["bulk"]["client_cpu_us_per_chunk"] < loads["paced"]["client_cpu_us_per_chunk"], loads
timing = loads["paced"]["timing"]
assert timing["requests"] == 250 and timing["chunks"] == 250 * 20, timing
assert 0 <= timing["ttft_error_p50_us"] < 1000 and 0 <= timing["chunk_error_p50_us"] < 1000, timing
print(json.dumps(timing))
'
