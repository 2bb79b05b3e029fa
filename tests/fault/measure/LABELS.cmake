# SPDX-License-Identifier: Apache-2.0
foreach(name journal writer)
  set_property(TEST test_fault_measure_${name} APPEND PROPERTY LABELS threads)
endforeach()
