# SPDX-License-Identifier: Apache-2.0
"""The report class of 0.1."""
from llmd_benchmark_report import BenchmarkReportV01

__all__ = ["BenchmarkReportV01"]
