# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_wire_sim_truth test_wire_sim_server APPEND PROPERTY LABELS threads)
