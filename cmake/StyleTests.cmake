# SPDX-License-Identifier: MIT
# Checks of the sources themselves, one script each. They depend on no build but the one whose
# libraries and compile commands they look at, so one preset registers them.
foreach(check IN ITEMS format text includes headers docs)
  poolgrad_test(NAME style_${check} LABELS style COMMAND
    "${PROJECT_SOURCE_DIR}/scripts/check_${check}.sh")
endforeach()
poolgrad_test(NAME style_symbols LABELS style COMMAND
  "${PROJECT_SOURCE_DIR}/scripts/check_symbols.sh"
  "$<TARGET_FILE:poolgrad_shared>" "$<TARGET_FILE:poolgrad_static>")
poolgrad_test(NAME style_tidy LABELS style COMMAND
  "${PROJECT_SOURCE_DIR}/scripts/check_tidy.sh" "${PROJECT_BINARY_DIR}")
if(POOLGRAD_CUDA)
  # What other builds do not compile; but for near_step.c, where a width that is never 0 is taken for 0.
  poolgrad_test(NAME style_tidy_cuda LABELS style COMMAND "${PROJECT_SOURCE_DIR}/scripts/check_tidy.sh"
    "${PROJECT_BINARY_DIR}" "(src/cuda/([^n]|near[.])|tests/fake_cuda/)")
endif()
