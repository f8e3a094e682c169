# SPDX-License-Identifier: MIT
# poolgrad_cuda_kernels(OUT NAME...): compiles src/cuda/kernels/NAME.cu for every architecture and
# puts the machine code into C arrays, with a table of them (cuda/images.h); OUT receives the C files.
find_program(POOLGRAD_NVCC nvcc HINTS "${POOLGRAD_CUDA_TOOLKIT}/bin" NO_CACHE)
if(NOT POOLGRAD_NVCC)
  message(FATAL_ERROR "POOLGRAD_CUDA needs nvcc: set POOLGRAD_CUDA_TOOLKIT, or run scripts/fetch_cuda.sh")
endif()

function(poolgrad_cuda_kernels out)
  # The arithmetic of docs/arithmetic.md: nothing is fused, denormals stay, divisions are exact.
  set(flags -std=c++20 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true
    "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/src" -Xfatbin=-compress-all)
  foreach(architecture IN LISTS POOLGRAD_CUDA_ARCHITECTURES)
    list(APPEND flags "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(GET POOLGRAD_CUDA_ARCHITECTURES -1 newest)
  list(APPEND flags "-gencode=arch=compute_${newest},code=compute_${newest}")

  set(directory "${CMAKE_CURRENT_BINARY_DIR}/kernels")
  file(MAKE_DIRECTORY "${directory}")
  set(files)
  set(table "")
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
    add_custom_command(OUTPUT "${c}"
      COMMAND "${CMAKE_COMMAND}" "-DFROM=${fatbin}" "-DTO=${c}" "-DNAME=pgi_cuda_image_${name}"
        -P "${PROJECT_SOURCE_DIR}/cmake/BytesToC.cmake"
      DEPENDS "${fatbin}" "${PROJECT_SOURCE_DIR}/cmake/BytesToC.cmake" VERBATIM)
    list(APPEND files "${c}")
    string(APPEND declarations "extern const unsigned char pgi_cuda_image_${name}[];\n")
    string(APPEND table "    {\"${name}\", pgi_cuda_image_${name}},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${directory}/images.c" @ONLY CONTENT
    "#include \"cuda/images.h\"\n\n@declarations@\nconst pgi_cuda_image pgi_cuda_images[] = {\n@table@    {0, 0},\n};\n")
  set(${out} ${files} "${directory}/images.c" PARENT_SCOPE)
endfunction()
