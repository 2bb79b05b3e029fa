# SPDX-License-Identifier: Apache-2.0
# Reference programs of the benchmarks (bench/), built by `ninja benches`: not part of `all`.
add_custom_target(benches)
foreach(bench bare_loop bare_server byte_loop curl_client plane_load sink startup)
  add_executable(bench_${bench} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/${bench}.c)
  add_dependencies(benches bench_${bench})
endforeach()
target_link_libraries(bench_curl_client PRIVATE PkgConfig::CURL)
