#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec python3 "$ASSAY_SOURCE_DIR/tests/e2e/run/robust_test.py"
