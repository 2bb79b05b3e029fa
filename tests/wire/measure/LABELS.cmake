# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_wire_measure_engine_records APPEND PROPERTY LABELS threads)
