# SPDX-License-Identifier: Apache-2.0
# `assay`, built from src/main.c and one file a command in src/cmd, and the programs it runs (libexec/assay).
file(GLOB command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cmd/*.c)
