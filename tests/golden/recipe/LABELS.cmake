# SPDX-License-Identifier: Apache-2.0
# The option tables that the commands of our tools are read with.
target_link_libraries(test_golden_recipe_templates PRIVATE assay_run)
