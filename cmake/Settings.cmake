# SPDX-License-Identifier: MIT
# Compiler settings that every target of the project shares.

# Optimisation is CMake's own for the build type: -O3 -DNDEBUG for Release.

function(poolgrad_settings target)
  target_compile_options(${target} PRIVATE
    -fvisibility=hidden
    # A fused multiply-add rounds once where the arithmetic contract rounds twice. Tests and
    # helpers need the flag too: an oracle must not depend on the compiler's mood.
    -ffp-contract=off
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Wundef)
  if(POOLGRAD_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(NOT POOLGRAD_OPENMP)
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
  endif()
  poolgrad_instrument(${target})
endfunction()

# Sanitizers and coverage only: what foreign code in the same program needs as well.
function(poolgrad_instrument target)
  if(POOLGRAD_SANITIZE)
    set(flags "-fsanitize=${POOLGRAD_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    if(POOLGRAD_SANITIZE MATCHES "memory")
      list(APPEND flags -fsanitize-memory-track-origins=2)
    endif()
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PUBLIC "-fsanitize=${POOLGRAD_SANITIZE}")
  endif()
  if(POOLGRAD_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
    target_link_options(${target} PUBLIC --coverage)
  endif()
endfunction()
