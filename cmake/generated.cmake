# SPDX-License-Identifier: Apache-2.0
# What is made from the option tables: manual pages, completion, job file schemas (in the build folder) and the options page
# docs/options.md (target `docs`, kept in the repository; tests/rules compares it).
set(DOCUMENTED_COMMANDS llm vlm asr imagegen summarize sim selftest prompts report serve ctl)
set(generated_files)

function(assay_document output)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${output}
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:assay>" "-DARGUMENTS=${ARGN}" -DOUTPUT=${CMAKE_BINARY_DIR}/${output}
      -P ${CMAKE_SOURCE_DIR}/cmake/document.cmake
    DEPENDS assay ${CMAKE_SOURCE_DIR}/cmake/document.cmake VERBATIM)
  set(generated_files ${generated_files} ${CMAKE_BINARY_DIR}/${output} PARENT_SCOPE)
endfunction()

foreach(command IN LISTS DOCUMENTED_COMMANDS)
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/cmd/${command}.c)
    assay_document(man/man1/assay-${command}.1 help ${command} --format man)
    assay_document(schema/assay-${command}.job.schema.json help ${command} --format schema)
  endif()
endforeach()
assay_document(man/man1/assay.1 help --format man)
assay_document(completions/assay help --format bash)
add_custom_target(generated ALL DEPENDS ${generated_files})

add_custom_target(docs
  COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:assay>" "-DARGUMENTS=help;--format;markdown" -DOUTPUT=${CMAKE_SOURCE_DIR}/docs/options.md
    -P ${CMAKE_SOURCE_DIR}/cmake/document.cmake
  DEPENDS assay generated VERBATIM)

# The other names of the tools have pages that lead to theirs.
foreach(tool llm vlm asr imagegen)
  file(WRITE ${CMAKE_BINARY_DIR}/man/man1/metrumbench-${tool}.1 ".so man1/assay-${tool}.1\n")
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
# Completions are loaded by the name of the program that is completed.
foreach(name assay metrumbench-llm metrumbench-vlm metrumbench-asr metrumbench-imagegen)
  install(FILES ${CMAKE_BINARY_DIR}/completions/assay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${name})
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/schema)
