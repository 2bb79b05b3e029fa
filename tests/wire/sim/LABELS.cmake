# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_wire_sim_truth APPEND PROPERTY LABELS threads)
