# SPDX-License-Identifier: Apache-2.0
# Run at build time: OUTPUT gets what PROGRAM prints for ARGUMENTS.
cmake_path(GET OUTPUT PARENT_PATH folder)
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_FILE ${OUTPUT}.new RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${OUTPUT}.new)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} failed: ${status}")
endif()
file(RENAME ${OUTPUT}.new ${OUTPUT})
