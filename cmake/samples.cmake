# SPDX-License-Identifier: Apache-2.0
# The images and audio of data/, with their prompts, manifests and ground truth, and the recipes, in share/assay/data (what made them stays here).
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data/images ${CMAKE_SOURCE_DIR}/data/audio ${CMAKE_SOURCE_DIR}/data/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/data
  COMPONENT samples PATTERN "*.py" EXCLUDE PATTERN "*.sh" EXCLUDE)
