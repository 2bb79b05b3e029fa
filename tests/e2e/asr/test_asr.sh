#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ASSAY_SOURCE_DIR/tests/e2e/run" exec python3 "$ASSAY_SOURCE_DIR/tests/e2e/asr/asr_test.py"
