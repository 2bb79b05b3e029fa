# SPDX-License-Identifier: Apache-2.0
# Puts schema/sql/NNNN_name.sql into assay_store as byte arrays, in order of their numbers.
if(TARGET assay_store)
  file(GLOB migrations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/sql/*.sql)
  list(SORT migrations)
  set(migrations_source ${CMAKE_BINARY_DIR}/store/migrations.c)
  add_custom_command(OUTPUT ${migrations_source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${migrations}" -DOUTPUT=${migrations_source} -P ${CMAKE_SOURCE_DIR}/cmake/embed_migrations.cmake
    DEPENDS ${migrations} ${CMAKE_SOURCE_DIR}/cmake/embed_migrations.cmake VERBATIM)
  target_sources(assay_store PRIVATE ${migrations_source})
endif()
