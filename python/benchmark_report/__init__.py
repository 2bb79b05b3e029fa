# SPDX-License-Identifier: Apache-2.0
"""The former name of llmd_benchmark_report: the same module objects under both names."""
import importlib
import sys

import llmd_benchmark_report

sys.modules[__name__] = llmd_benchmark_report
for _name in ("cli", "native_to_br0_1", "native_to_br0_2", "schema_v0_1", "schema_v0_2"):
    sys.modules[f"{__name__}.{_name}"] = importlib.import_module(f"llmd_benchmark_report.{_name}")
