#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each member of a summary that does not explain itself by its name has a description in its JSON schema.
set -eu
exec /usr/bin/env python3 - "$ASSAY_SOURCE_DIR/schema/json" <<'EOF'
import json, pathlib, sys

GROUPS = {".window", ".counts", ".steady_state", ".client", ".client.read_lag_us", ".client.error_budget", ".client.stamps", ".prompts", ".validity",
          ".validity.reasons", ".ntp", "$request_counts", "$latency", "$tokens", "$words", "$goodput", "$chunks", "$output_length", "$bytes", "$errors", "$flags",
          "$first_request", "$rates"}
missing, found = [], 0


def walk(node, path, name):
    global found
    if not isinstance(node, dict):
        return
    for key, value in node.get("properties", {}).items():
        if path in GROUPS:
            found += 1
            if not value.get("description"):
                missing.append(f"{name}: {path}.{key}")
        walk(value, f"{path}.{key}", name)
    for inner in node.get("allOf", []) + node.get("anyOf", []) + [node.get("items"), node.get("additionalProperties")]:
        walk(inner, path, name)
    for key, value in node.get("$defs", {}).items():
        walk(value, "$" + key, name)


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.summary.*.json")):
    walk(json.loads(path.read_text(encoding="utf-8")), "", path.name)
for place in missing:
    print(place, "has no description")
print(found, "members")
sys.exit(1 if missing or found < 100 else 0)
EOF
