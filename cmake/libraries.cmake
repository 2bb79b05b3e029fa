# SPDX-License-Identifier: Apache-2.0
# The outside libraries each module links; a module not named here needs libc only.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)

set(LIBRARIES_base m Threads::Threads)
set(LIBRARIES_options PkgConfig::YAML)
set(LIBRARIES_brief PkgConfig::YAML)
set(LIBRARIES_http OpenSSL::SSL OpenSSL::Crypto)
set(LIBRARIES_net OpenSSL::SSL OpenSSL::Crypto)
set(LIBRARIES_recipe OpenSSL::Crypto)
set(LIBRARIES_workload OpenSSL::Crypto)
pkg_check_modules(PIXELS REQUIRED IMPORTED_TARGET libpng libturbojpeg libwebp)
set(LIBRARIES_media PkgConfig::PIXELS)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
set(LIBRARIES_accuracy PkgConfig::UTF8PROC)
# For the program assay-media alone; --as-needed keeps them from all others.
pkg_check_modules(SOUND REQUIRED IMPORTED_TARGET sndfile libmpg123)
list(APPEND LIBRARIES_media PkgConfig::SOUND)
# The system of record: an embedded file, or a server.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
set(LIBRARIES_store PkgConfig::SQLITE PkgConfig::PQ Threads::Threads)
# The control plane: passwords.
pkg_check_modules(ARGON2 REQUIRED IMPORTED_TARGET libargon2)
set(LIBRARIES_plane OpenSSL::Crypto PkgConfig::ARGON2 Threads::Threads)
# For the program assay-ctl alone: streams are read while they arrive.
set(LIBRARIES_ctl PkgConfig::CURL)
