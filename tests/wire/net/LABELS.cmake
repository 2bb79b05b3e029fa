# SPDX-License-Identifier: Apache-2.0
foreach(name exchange connect resolve tls random)
  set_property(TEST test_wire_net_${name} APPEND PROPERTY LABELS threads)
endforeach()
