# SPDX-License-Identifier: Apache-2.0
if(TARGET assay-fetch)
  add_dependencies(test_wire_workload_prompts assay-fetch)
endif()
