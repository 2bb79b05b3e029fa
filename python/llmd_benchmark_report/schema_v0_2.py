# SPDX-License-Identifier: Apache-2.0
"""The report class of 0.2.1."""
from llmd_benchmark_report import BenchmarkReportV02

__all__ = ["BenchmarkReportV02"]
