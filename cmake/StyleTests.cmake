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
