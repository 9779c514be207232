# cmake --toolchain PREFIX/share/loopwright/toolchain.cmake: C, C++ and Fortran through loopwright.
# -DLOOPWRIGHT_OPTIONS=parallel,tile=64 gives it options.
get_filename_component(_loopwright "${CMAKE_CURRENT_LIST_DIR}/../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${_loopwright}/loopwright-cc")
set(CMAKE_CXX_COMPILER "${_loopwright}/loopwright-c++")
set(CMAKE_Fortran_COMPILER "${_loopwright}/loopwright-fc")
if(LOOPWRIGHT_OPTIONS)
  foreach(_language C CXX Fortran)
    set(CMAKE_${_language}_FLAGS_INIT "--loopwright=${LOOPWRIGHT_OPTIONS}")
  endforeach()
endif()

# CMake before 3.28 knows LLVM's flang, but not what it calls a release.
set(CMAKE_Fortran_FLAGS_RELEASE_INIT "-O3")
set(CMAKE_Fortran_FLAGS_RELWITHDEBINFO_INIT "-O2 -g")
