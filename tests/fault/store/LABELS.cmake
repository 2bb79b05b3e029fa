# SPDX-License-Identifier: Apache-2.0
# Those that run on both databases go with the tier that has both; and more of the same: cuts, kills, seconds.
foreach(name cut kill readers)
  set_property(TEST test_fault_store_${name} PROPERTY LABELS store)
endforeach()
function(assay_store_fault_long name argument timeout)
  add_test(NAME test_fault_store_${name}_long COMMAND test_fault_store_${name} ${argument} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(test_fault_store_${name}_long PROPERTIES LABELS "store;long" TIMEOUT ${timeout})
endfunction()
assay_store_fault_long(power 500 7200)
assay_store_fault_long(kill 1000 7200)
assay_store_fault_long(cut 1000 3600)
assay_store_fault_long(readers 600 1800)
