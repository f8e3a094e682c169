# SPDX-License-Identifier: MIT
# Defines the target poolgrad_cmocka: the installed library, or, for builds that an installed one
# cannot serve (another architecture, MemorySanitizer), one compiled from POOLGRAD_CMOCKA_SOURCE.
add_library(poolgrad_cmocka INTERFACE)
if(POOLGRAD_CMOCKA_SOURCE)
  add_library(cmocka_from_source STATIC "${POOLGRAD_CMOCKA_SOURCE}/src/cmocka.c")
  target_include_directories(cmocka_from_source SYSTEM PUBLIC "${POOLGRAD_CMOCKA_SOURCE}/include")
  target_compile_definitions(cmocka_from_source PRIVATE
    _GNU_SOURCE HAVE_SIGNAL_H HAVE_STRINGS_H HAVE_INTTYPES_H HAVE_UNISTD_H HAVE_MALLOC_H
    HAVE_CLOCK_REALTIME HAVE_STRUCT_TIMESPEC)
  target_compile_options(cmocka_from_source PRIVATE -w)
  poolgrad_instrument(cmocka_from_source)
  target_link_libraries(poolgrad_cmocka INTERFACE cmocka_from_source)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  target_link_libraries(poolgrad_cmocka INTERFACE PkgConfig::CMOCKA)
endif()
