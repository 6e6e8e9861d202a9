# Language level, compiler cache and linker, for every target of the build.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Clang 14 has the coroutines of C++20 but does not define the macro that libstdc++ checks.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  add_compile_definitions(__cpp_impl_coroutine=201902L)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# ccache serves one machine's checkouts and build folders from one cache: CCACHE_BASEDIR makes the paths it compares
# relative, and CCACHE_NOHASHDIR leaves the build folder's own path out of the comparison. The sloppiness is what
# ccache asks for before it accepts precompiled headers.
find_program(TERRARIUM_CCACHE ccache)
if(TERRARIUM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${TERRARIUM_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

# Messages name files from the root of the checkout, wherever the build folder is. ccache passes paths relative to
# the build folder, a build without it absolute ones.
file(RELATIVE_PATH terrarium_source_from_build "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-fmacro-prefix-map=${terrarium_source_from_build}=")

# mold links the larger test programs several times faster than GNU ld.
find_program(TERRARIUM_MOLD mold)
if(TERRARIUM_MOLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold TERRARIUM_LINKER_MOLD)
  if(TERRARIUM_LINKER_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
