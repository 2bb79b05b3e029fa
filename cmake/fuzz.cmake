# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/<module>/test_<name>.c defines LLVMFuzzerTestOneInput. Usually it is linked to a main that replays the
# files of tests/fuzz/<module>/corpus-<name>/ and fixed mutations of them, with any compiler. With ASSAY_FUZZ (clang)
# it is a libFuzzer program: run it by hand with the corpus folder; ctest then only replays that.
if(ASSAY_FUZZ)
  foreach(module IN LISTS ASSAY_MODULES)
    if(TARGET assay_${module})
      target_compile_options(assay_${module} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endforeach()
else()
  add_library(assay_test_fuzz_replay STATIC ${CMAKE_SOURCE_DIR}/tests/support/fuzz/replay.c)
  target_include_directories(assay_test_fuzz_replay PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(assay_test_fuzz_replay PUBLIC assay_base)
endif()

# Adds the test of a fuzz program to ctest.
function(assay_fuzz_test name corpus)
  if(ASSAY_FUZZ)
    target_compile_definitions(${name} PRIVATE ASSAY_FUZZ=1)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -runs=0 ${corpus} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  else()
    target_link_libraries(${name} PRIVATE assay_test_fuzz_replay)
    add_test(NAME ${name} COMMAND ${name} ${corpus} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endfunction()
