# SPDX-License-Identifier: Apache-2.0
# `benchmark-report`: a program of its own, so that it starts without the libraries that only load needs.
set(front_sources main.c cmd/front.c cmd/command.c cmd/program.c cmd/version.c cmd/report.c)
list(TRANSFORM front_sources PREPEND ${CMAKE_SOURCE_DIR}/src/)
add_executable(benchmark-report ${front_sources})
assay_program(benchmark-report)
target_link_libraries(benchmark-report PRIVATE assay_reports)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/man1/benchmark-report.1
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:benchmark-report> -DARGUMENTS=--man
    -DOUTPUT=${CMAKE_BINARY_DIR}/man/man1/benchmark-report.1 -P ${CMAKE_SOURCE_DIR}/cmake/document.cmake
  DEPENDS benchmark-report ${CMAKE_SOURCE_DIR}/cmake/document.cmake VERBATIM)
add_custom_target(benchmark-report-man ALL DEPENDS ${CMAKE_BINARY_DIR}/man/man1/benchmark-report.1)
install(TARGETS benchmark-report)

# libassay-report: base and brief in one, only assay_* visible. The soname changes when the C interface breaks.
set(REPORT_LIBRARY_VERSION 0.2.1)
set(REPORT_LIBRARY_SONAME 0)
set(REPORT_MAP ${CMAKE_SOURCE_DIR}/src/brief/assay-report.map)
add_library(assay-report-shared SHARED $<TARGET_OBJECTS:assay_brief> $<TARGET_OBJECTS:assay_base>)
set_target_properties(assay-report-shared PROPERTIES OUTPUT_NAME assay-report VERSION ${REPORT_LIBRARY_VERSION}
  SOVERSION ${REPORT_LIBRARY_SONAME} LINK_DEPENDS ${REPORT_MAP} LINKER_LANGUAGE C)
target_link_options(assay-report-shared PRIVATE -Wl,--version-script=${REPORT_MAP})
if(NOT ASSAY_SANITIZE AND NOT ASSAY_COVERAGE)
  target_link_options(assay-report-shared PRIVATE -Wl,--no-undefined)
endif()
target_link_libraries(assay-report-shared PRIVATE ${LIBRARIES_brief} ${LIBRARIES_base})

# The static one: all objects joined into one whose other names are local.
set(report_static ${CMAKE_BINARY_DIR}/libassay-report.a)
add_custom_command(OUTPUT ${report_static}
  COMMAND ${CMAKE_LINKER} -r -o assay-report.o --whole-archive $<TARGET_FILE:assay_brief> $<TARGET_FILE:assay_base> --no-whole-archive
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=assay_* assay-report.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${report_static}
  COMMAND ${CMAKE_AR} rcs ${report_static} assay-report.o
  DEPENDS assay_brief assay_base WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_custom_target(assay-report-static ALL DEPENDS ${report_static})

# The prefix as seen from the .pc file: what `cmake --install --prefix` chooses later, and a moved folder, still fit.
file(RELATIVE_PATH REPORT_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/src/brief/assay-report.pc.in ${CMAKE_BINARY_DIR}/assay-report.pc @ONLY)
install(TARGETS assay-report-shared)
install(FILES ${report_static} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/assay-report.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/assay TYPE INCLUDE FILES_MATCHING PATTERN "report.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/llmd_benchmark_report ${CMAKE_SOURCE_DIR}/python/benchmark_report DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/python
  FILES_MATCHING PATTERN "*.py")
