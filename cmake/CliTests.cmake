# SPDX-License-Identifier: MIT
# One test per tests/cli/NN_name.sh, found by pattern, so that a case cannot be forgotten.
list(JOIN POOLGRAD_LAUNCHER " " launcher_words)
file(GLOB cases CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cli/[0-9]*.sh")
foreach(case IN LISTS cases)
  get_filename_component(name "${case}" NAME_WE)
  poolgrad_test(NAME cli_${name} LABELS quick
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh" "$<TARGET_FILE:poolgrad>" ${name}
    ENVIRONMENT "POOLGRAD_EMULATOR=${launcher_words}" "POOLGRAD_FAKE_CUDA=${FAKE_CUDA_DIRECTORY}")
  if(TEST "${POOLGRAD_TEST_PREFIX}cli_${name}")
    set_tests_properties("${POOLGRAD_TEST_PREFIX}cli_${name}" PROPERTIES
      SKIP_REGULAR_EXPRESSION "0 passed, 0 failed, 1 skipped")
  endif()
endforeach()

# A CPU without AVX: shows instructions that strayed out of the file of their instruction set.
find_program(QEMU_X86_64 qemu-x86_64)
if(QEMU_X86_64 AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT POOLGRAD_SANITIZE)
  poolgrad_test(NAME baseline_cpu LABELS quick COMMAND
    "${QEMU_X86_64}" -cpu core2duo "$<TARGET_FILE:poolgrad>" check --random 200 --quiet)
endif()
