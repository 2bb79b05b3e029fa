# SPDX-License-Identifier: Apache-2.0
if(TARGET assay-fetch)
  add_dependencies(test_wire_fetch_fetch assay-fetch)
endif()
