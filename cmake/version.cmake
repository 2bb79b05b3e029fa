# SPDX-License-Identifier: Apache-2.0
# Run at build time: writes TARGET (a header) from the repository's state, only when it changed.
set(commit unknown)
set(is_modified false)
set(suffix "")
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE head ERROR_QUIET RESULT_VARIABLE failed
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT failed)
  set(commit ${head})
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(is_modified true)
    set(suffix ".modified")
  endif()
endif()
if(SANITIZE)
  string(APPEND BUILD " with sanitizers ${SANITIZE}")
endif()
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT ${TARGET} @ONLY CONTENT [[/* Written by cmake/version.cmake. */
#define ASSAY_VERSION_TEXT "@VERSION@"
#define ASSAY_COMMIT "@commit@"
#define ASSAY_IS_MODIFIED @is_modified@
#define ASSAY_MODIFIED_SUFFIX "@suffix@"
#define ASSAY_BUILD "@BUILD@"
#define ASSAY_FLAGS "@FLAGS@"
]])
