# SPDX-License-Identifier: Apache-2.0
# The images and audio of data/, with their prompts, manifests and ground truth, and the recipes, in share/assay/data (what made them stays here).
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data/images ${CMAKE_SOURCE_DIR}/data/audio ${CMAKE_SOURCE_DIR}/data/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/data
  COMPONENT samples PATTERN "*.py" EXCLUDE PATTERN "*.sh" EXCLUDE)
# The libraries that ship are made from their seeds by the program itself.
set(SHIPPED_LIBRARIES assay-random-v1 assay-fixed-v1 assay-medical-v1 assay-legal-v1 assay-code-v1 assay-long-context-v1 text2image-multiprompt-1024)
set(shipped_files)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/data/prompts)
foreach(code IN LISTS SHIPPED_LIBRARIES)
  set(file ${CMAKE_BINARY_DIR}/data/prompts/${code}.jsonl)
  add_custom_command(OUTPUT ${file} BYPRODUCTS ${file}.meta.json COMMAND assay prompts generate ${code} --out ${file} DEPENDS assay VERBATIM)
  list(APPEND shipped_files ${file})
endforeach()
add_custom_target(shipped_libraries ALL DEPENDS ${shipped_files})
install(DIRECTORY ${CMAKE_BINARY_DIR}/data/prompts DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/data COMPONENT samples)
