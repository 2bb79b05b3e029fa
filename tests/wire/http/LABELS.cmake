# SPDX-License-Identifier: Apache-2.0
# Server and client of these tests are threads of one process: they also run under the thread sanitizer.
foreach(name server tls loops storm)
  set_tests_properties(test_wire_http_${name} PROPERTIES LABELS "wire;threads")
endforeach()
