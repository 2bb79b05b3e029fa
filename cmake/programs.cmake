# SPDX-License-Identifier: Apache-2.0
# `assay`, built from src/main.c and one file a command in src/cmd, and the programs it runs: src/cmd/<name>_main.c becomes
# libexec/assay/assay-<name>.
set(PROGRAM_LIBRARIES_fetch PkgConfig::CURL)
set(PROGRAM_LIBRARIES_serve assay_plane)
set(ASSAY_LINKS metrumbench-llm metrumbench-vlm metrumbench-asr metrumbench-imagegen)

file(GLOB command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cmd/*.c)
set(program_sources ${command_sources})
list(FILTER program_sources INCLUDE REGEX "_main\\.c$")
list(FILTER command_sources EXCLUDE REGEX "_main\\.c$")
list(TRANSFORM ASSAY_MODULES PREPEND assay_ OUTPUT_VARIABLE all_modules)

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
# The version's text holds the commit, which changes without a configure: looked up at every build, written when it differs.
add_custom_target(version_data
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DTARGET=${CMAKE_BINARY_DIR}/include/generated/version_data.h
    -DVERSION=${ASSAY_VERSION} -DBUILD=${CMAKE_BUILD_TYPE} -DSANITIZE=${ASSAY_SANITIZE}
    "-DFLAGS=${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}" -P ${CMAKE_SOURCE_DIR}/cmake/version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/include/generated/version_data.h
  COMMENT "version" VERBATIM)

function(assay_program target)
  target_compile_options(${target} PRIVATE -include ${CMAKE_SOURCE_DIR}/src/base/banned.h)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/include)
  add_dependencies(${target} version_data)
endfunction()

add_executable(assay ${CMAKE_SOURCE_DIR}/src/main.c ${command_sources})
assay_program(assay)
foreach(module IN LISTS all_modules)
  if(TARGET ${module})
    target_link_libraries(assay PRIVATE ${module})
  endif()
endforeach()
install(TARGETS assay)
foreach(link IN LISTS ASSAY_LINKS)
  file(CREATE_LINK assay ${CMAKE_BINARY_DIR}/${link} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/${link} TYPE BIN)
endforeach()

foreach(source IN LISTS program_sources)
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "_main$" "" name ${name})
  add_executable(assay-${name} ${source})
  assay_program(assay-${name})
  if(TARGET assay_${name})
    target_link_libraries(assay-${name} PRIVATE assay_${name})
  endif()
  target_link_libraries(assay-${name} PRIVATE assay_base ${PROGRAM_LIBRARIES_${name}})
  set_target_properties(assay-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/assay)
  install(TARGETS assay-${name} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/assay)
endforeach()
