# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_wire_engine_loopback APPEND PROPERTY LABELS threads)
