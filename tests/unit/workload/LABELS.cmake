# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_unit_workload_images APPEND PROPERTY LABELS threads)
