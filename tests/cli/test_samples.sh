#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The samples are installed to share/assay/data, and every file that a manifest or prompt names is there with them.
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$ASSAY_BUILD_DIR" --component samples --prefix "$prefix" >/dev/null
data=$(find "$prefix" -type d -path '*/share/assay/data')
[ -d "$data/images" ] || { echo "no $prefix/share/assay/data/images" >&2; exit 1; }
[ -z "$(find "$data" -name '*.py' -o -name '*.sh')" ] || { echo "scripts are installed too" >&2; exit 1; }

python3 - "$data" <<'PYTHON'
import json, pathlib, sys

def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]

data = pathlib.Path(sys.argv[1])
audio, images = rows(data / "audio/manifest.jsonl"), rows(data / "images/prompts.jsonl")
files = [data / "audio" / row["path"] for row in audio]
files += [data / "images" / name for row in images for name in row.get("image_urls") or [row["image_url"]]]
assert len(audio) >= 6 and len(files) >= 12, (len(audio), len(files))
missing = [str(path) for path in files if not path.is_file()]
assert not missing, missing
assert {row["id"] for row in rows(data / "audio/ground_truth.jsonl")} == {row["id"] for row in audio}
assert rows(data / "images/generate.jsonl")[0]["prompt"]
PYTHON
