# SPDX-License-Identifier: Apache-2.0
"""Native results to reports 0.1."""
from functools import partial

import llmd_benchmark_report as _br

import_aiperf = partial(_br.import_aiperf, version="0.1")
import_guidellm = partial(_br.import_guidellm, version="0.1")
import_guidellm_all = partial(_br.import_guidellm_all, version="0.1")
import_inference_max = partial(_br.import_inference_max, version="0.1")
import_inference_perf = partial(_br.import_inference_perf, version="0.1")
import_inference_perf_session = partial(_br.import_inference_perf_session, version="0.1")
import_nop = partial(_br.import_nop, version="0.1")
import_vllm_benchmark = partial(_br.import_vllm_benchmark, version="0.1")
