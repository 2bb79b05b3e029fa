#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The golden summary and records fit their JSON schemas; damaged ones do not.
set -eu
source_dir=${ASSAY_SOURCE_DIR:-$(cd "$(dirname "$0")/../../.." && pwd)}
exec /usr/bin/python3 "$source_dir/tests/golden/summary/check_schema.py" "$source_dir"
