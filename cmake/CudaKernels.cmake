# SPDX-License-Identifier: MIT
# poolgrad_cuda_kernels(OUT NAME...): compiles src/cuda/kernels/NAME.cu for every architecture and
# puts the machine code into C arrays, with a table of them (cuda/images.h); OUT receives the C files.
# Without architectures the arrays are empty and nothing is compiled.
if(POOLGRAD_CUDA_ARCHITECTURES)
  find_program(POOLGRAD_NVCC nvcc HINTS "${POOLGRAD_CUDA_TOOLKIT}/bin" NO_CACHE)
  if(NOT POOLGRAD_NVCC)
    message(FATAL_ERROR "POOLGRAD_CUDA needs nvcc: set POOLGRAD_CUDA_TOOLKIT, or run scripts/fetch_cuda.sh")
  endif()
endif()

# The table of images; `table` and `declarations` are of its entries, `newest` is the architecture of
# those that the driver compiles.
function(poolgrad_cuda_table out declarations table newest)
  string(REGEX REPLACE "[^0-9]" "" newest "${newest}")
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT
    [=[
#include "cuda/images.h"

#include "cuda/device.h"

@declarations@
const pgi_cuda_image pgi_cuda_images[] = {
@table@    {0, 0},
};
const int pgi_cuda_newest = @newest@;
_Static_assert(sizeof pgi_cuda_images / sizeof pgi_cuda_images[0] <= PGI_CUDA_MODULES + 1,
               "PGI_CUDA_MODULES is too small");
]=])
endfunction()

function(poolgrad_cuda_kernels out)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/kernels")
  set(table "")
  if(NOT POOLGRAD_CUDA_ARCHITECTURES)
    foreach(name IN LISTS ARGN)
      string(APPEND table "    {\"${name}\", nothing},\n")
    endforeach()
    poolgrad_cuda_table("${directory}/images.c" "static const unsigned char nothing[8];\n" "${table}" 0)
    set(${out} "${directory}/images.c" PARENT_SCOPE)
    return()
  endif()

  # The arithmetic of docs/arithmetic.md: nothing is fused, denormals stay, divisions are exact.
  set(flags -std=c++20 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -Werror all-warnings
    "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/src")
  if(POOLGRAD_CUDA_COMPRESS)
    list(APPEND flags -Xfatbin=-compress-all)
  endif()
  foreach(architecture IN LISTS POOLGRAD_CUDA_ARCHITECTURES)
    list(APPEND flags "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(GET POOLGRAD_CUDA_ARCHITECTURES -1 newest)
  list(APPEND flags "-gencode=arch=compute_${newest},code=compute_${newest}")

  file(MAKE_DIRECTORY "${directory}")
  set(files)
  set(declarations "")
  foreach(name IN LISTS ARGN)
    set(fatbin "${directory}/${name}.fatbin")
    set(c "${directory}/${name}.c")
    add_custom_command(OUTPUT "${fatbin}"
      COMMAND "${POOLGRAD_NVCC}" ${flags} -fatbin -MD -MF "${fatbin}.d" -o "${fatbin}"
        "${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernels/${name}.cu"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernels/${name}.cu"
      DEPFILE "${fatbin}.d"
      COMMENT "Compiling kernels ${name}" VERBATIM)
    # The assembler takes the bytes as they are; C arrays of all of them would cost half a minute.
    file(CONFIGURE OUTPUT "${c}" @ONLY CONTENT [=[
__asm__(".section .rodata\n.balign 64\n.globl pgi_cuda_image_@name@\n.hidden pgi_cuda_image_@name@\n"
        ".type pgi_cuda_image_@name@, %object\npgi_cuda_image_@name@:\n.incbin \"@fatbin@\"\n"
        ".size pgi_cuda_image_@name@, . - pgi_cuda_image_@name@\n.previous\n");
extern const unsigned char pgi_cuda_image_@name@[];
]=])
    set_source_files_properties("${c}" PROPERTIES OBJECT_DEPENDS "${fatbin}")
    list(APPEND files "${c}")
    string(APPEND declarations "extern const unsigned char pgi_cuda_image_${name}[];\n")
    string(APPEND table "    {\"${name}\", pgi_cuda_image_${name}},\n")
  endforeach()
  poolgrad_cuda_table("${directory}/images.c" "${declarations}" "${table}" "${newest}")
  set(${out} ${files} "${directory}/images.c" PARENT_SCOPE)
endfunction()
