# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/poolgrad")

install(DIRECTORY include/poolgrad DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(TARGETS poolgrad_shared EXPORT shared_targets)
install(TARGETS poolgrad_static EXPORT static_targets)
if(POOLGRAD_BUILD_CLI)
  install(TARGETS poolgrad)
  install(FILES docs/man/poolgrad.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

# Two export files: only the static library makes its user link OpenMP.
install(EXPORT shared_targets NAMESPACE poolgrad:: DESTINATION "${package_dir}"
  FILE poolgrad-shared-targets.cmake)
install(EXPORT static_targets NAMESPACE poolgrad:: DESTINATION "${package_dir}"
  FILE poolgrad-static-targets.cmake)
configure_package_config_file(cmake/poolgrad-config.cmake.in
  "${PROJECT_BINARY_DIR}/poolgrad-config.cmake" INSTALL_DESTINATION "${package_dir}")
# While the major version is 0 a minor one may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/poolgrad-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/poolgrad-config.cmake"
  "${PROJECT_BINARY_DIR}/poolgrad-config-version.cmake"
  DESTINATION "${package_dir}")

# The OpenMP runtime by its own name, not as -fopenmp: whoever links the static library may use
# another compiler, and that flag would then bring another runtime.
set(PC_LIBS_PRIVATE "-lm")
if(POOLGRAD_OPENMP)
  foreach(name IN LISTS OpenMP_C_LIB_NAMES)
    get_filename_component(directory "${OpenMP_${name}_LIBRARY}" DIRECTORY)
    if(directory AND NOT directory IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND PC_LIBS_PRIVATE " -L${directory}")
    endif()
    string(APPEND PC_LIBS_PRIVATE " -l${name}")
  endforeach()
endif()
# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH PC_UP "/root/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/root")
string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
configure_file(cmake/poolgrad.pc.in "${PROJECT_BINARY_DIR}/poolgrad.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/poolgrad.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
