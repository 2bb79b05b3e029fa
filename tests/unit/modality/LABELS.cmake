# SPDX-License-Identifier: Apache-2.0
set_property(TEST test_unit_modality_imagegen_judge APPEND PROPERTY LABELS threads)
