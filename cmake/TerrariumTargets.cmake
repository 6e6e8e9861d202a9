# The two functions every folder's CMakeLists.txt uses.

# Headers that most sources include and that rarely change. They are compiled once, here, and reused by every target; a
# source still includes what it uses.
set(terrarium_pch_headers
    <algorithm> <array> <atomic> <chrono> <compare> <condition_variable> <cstddef> <cstdint> <deque> <exception>
    <functional> <initializer_list> <iterator> <limits> <map> <memory> <mutex> <optional> <ostream> <set> <span>
    <sstream> <stdexcept> <string> <string_view> <tuple> <type_traits> <utility> <variant> <vector>
    <nlohmann/json.hpp>)

add_library(terrarium_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/pch.cc")
target_link_libraries(terrarium_pch PRIVATE nlohmann_json::nlohmann_json)
target_precompile_headers(terrarium_pch PRIVATE ${terrarium_pch_headers})

# A fuzz target runs a parser of these folders. The rest of what it links is compiled as quickly as possible, without
# sanitizers.
set(terrarium_fuzzed_folders "^(api|fuzz|controllers/replicaset|testbed/scenario)(/|$)")
set(terrarium_unfuzzed_options -O0 -g0 -fno-sanitize=all)
if(TERRARIUM_FUZZ)
  add_library(terrarium_unfuzzed_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/pch.cc")
  target_compile_options(terrarium_unfuzzed_pch PRIVATE ${terrarium_unfuzzed_options})
  target_link_libraries(terrarium_unfuzzed_pch PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(terrarium_unfuzzed_pch PRIVATE ${terrarium_pch_headers})
endif()

if(TERRARIUM_DEVELOPER_BUILD)
  add_custom_target(threaded_tests)
  set(TERRARIUM_TEST_TIMEOUT_FACTOR 1 CACHE STRING "Sanitizers slow tests down by about this much")
  # A test spends its time in the libraries, so optimising the test's own code only costs compile time.
  set(TERRARIUM_TEST_OPTIONS "" CACHE STRING "Compile options of the tests' own sources")
  add_library(terrarium_test_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/pch.cc")
  target_compile_options(terrarium_test_pch PRIVATE ${TERRARIUM_TEST_OPTIONS})
  target_link_libraries(terrarium_test_pch PRIVATE nlohmann_json::nlohmann_json GTest::gtest GTest::gmock)
  target_precompile_headers(terrarium_test_pch PRIVATE ${terrarium_pch_headers} <gmock/gmock.h> <gtest/gtest.h>)
endif()

# When every folder has declared its libraries.
if(TERRARIUM_UNITY)
  cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL include TerrariumUnity)
endif()
cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL include TerrariumInstall)

# Warnings of the project's own code; the compiler sees library headers as system headers and is silent about them.
function(terrarium_target_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${TERRARIUM_WERROR}>:-Werror>
                                           # GCC 12 warns about the standard library's own string and regex code
                                           # (bugs 105651, 105329, 105562), more so when it optimises.
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-stringop-overflow>
                                           # It takes a source that another one includes for a header.
                                           $<$<AND:$<BOOL:${TERRARIUM_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
  # Every target of the project has its warnings from here.
  set_property(GLOBAL APPEND PROPERTY terrarium_compiled_targets ${target})
endfunction()

# In a unity build the libraries of these folders are one static library, so that sources of small libraries are joined
# as well; terrarium_<name> is then an interface library that links it. The regular expressions match the folder.
set(terrarium_unity_controllers "^(controllers|kubelet-fake)(/|$)")
set(terrarium_unity_testbed "^testbed(/(control_plane|embedding|invariants|runtime|scenario|server))?$")

# terrarium_unity_library(out folder): the name of the library that the sources of a folder go to, or nothing.
function(terrarium_unity_library out folder)
  set(${out} "" PARENT_SCOPE)
  if(TERRARIUM_UNITY AND NOT (TERRARIUM_FUZZ AND folder MATCHES "${terrarium_fuzzed_folders}"))
    foreach(name IN ITEMS controllers testbed)
      if(folder MATCHES "${terrarium_unity_${name}}")
        set(${out} unity_${name} PARENT_SCOPE)
      endif()
    endforeach()
  endif()
endfunction()

# Links the faster allocator, in builds that optimise, where the machine has one.
function(terrarium_fast_allocator target)
  if(terrarium_tcmalloc AND CMAKE_BUILD_TYPE MATCHES "^Rel")
    # Nothing names a symbol of it, and a linker that drops unneeded libraries would drop it.
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${target} PRIVATE "${terrarium_tcmalloc}")
  endif()
endfunction()

# terrarium_add_library(name [SOURCES] file... [PUBLIC target...] [PRIVATE target...] [NO_PCH] [NO_INSTALL])
#
# Makes the library terrarium_<name> with the alias terrarium::<name>. Files are included by their path from the root of
# the checkout. Listed headers outside internal/ are its public surface; `all_verify_interface_header_sets` compiles
# each alone. Without a .cc the library is header-only. NO_PCH is for a target whose compile flags the shared
# precompiled header does not fit; the compiler warns when that is so. A library is part of the installed package
# (TerrariumInstall.cmake) unless NO_INSTALL is given or the library is for tests.
function(terrarium_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PCH;NO_INSTALL" "" "SOURCES;PUBLIC;PRIVATE")
  set(files ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  set(headers ${files})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  list(FILTER headers EXCLUDE REGEX "(^|/)internal/")

  set(target terrarium_${name})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
  terrarium_unity_library(unity "${folder}")
  if(sources AND unity AND NOT arg_NO_PCH AND NOT arg_NO_INSTALL)
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE terrarium_${unity} ${arg_PUBLIC})
    foreach(file IN LISTS sources)
      cmake_path(ABSOLUTE_PATH file NORMALIZE)
      set_property(GLOBAL APPEND PROPERTY terrarium_${unity}_sources "${file}")
    endforeach()
    set_property(GLOBAL APPEND PROPERTY terrarium_unity_libraries ${unity})
    set_property(GLOBAL APPEND PROPERTY terrarium_${unity}_members ${target} terrarium::${name})
    set_property(GLOBAL APPEND PROPERTY terrarium_${unity}_public ${arg_PUBLIC})
    set_property(GLOBAL APPEND PROPERTY terrarium_${unity}_private ${arg_PRIVATE})
  elseif(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${files})
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
    terrarium_target_warnings(${target})
    set(pch terrarium_pch)
    if(TERRARIUM_FUZZ AND NOT folder MATCHES "${terrarium_fuzzed_folders}")
      target_compile_options(${target} PRIVATE ${terrarium_unfuzzed_options})
      set(pch terrarium_unfuzzed_pch)
    endif()
    if(NOT arg_NO_PCH)
      target_precompile_headers(${target} REUSE_FROM ${pch})
      target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC} ${arg_PRIVATE})
  endif()
  add_library(terrarium::${name} ALIAS ${target})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(headers)
    # On a target of their own: CMake would install a file set as it is, and ours are changed on the way.
    add_library(${target}_headers INTERFACE)
    target_link_libraries(${target}_headers INTERFACE ${target})
    target_sources(${target}_headers INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
    set_target_properties(${target}_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${TERRARIUM_DEVELOPER_BUILD})
  endif()
  if(NOT arg_NO_INSTALL AND NOT folder MATCHES "^(tests|bench|e2e)")
    set_property(GLOBAL APPEND PROPERTY terrarium_installed_libraries ${target})
    foreach(header IN LISTS headers)
      cmake_path(ABSOLUTE_PATH header NORMALIZE)
      cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_property(GLOBAL APPEND PROPERTY terrarium_installed_headers "${header}")
    endforeach()
  endif()
endfunction()

# terrarium_add_test(name [SOURCES] file... LABEL label [DEPS target...] [TIMEOUT seconds] [NO_PCH] [THREADS])
# terrarium_add_test(name COMMAND program... LABEL label [TIMEOUT seconds] [THREADS])
#
# The first form makes one GoogleTest program tests/<name>_test in the build folder and registers it as one CTest
# test; a process per TEST would cost more than most of them run. The second registers a script. Both run in the root
# of the checkout, so that test data is read by the path it has there. THREADS is for a test of several threads: it gets
# the label `threads`, and the target threaded_tests builds its program, so that a build with the thread sanitizer
# compiles nothing else.
function(terrarium_add_test name)
  if(NOT TERRARIUM_DEVELOPER_BUILD)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PCH;THREADS" "LABEL;TIMEOUT" "SOURCES;DEPS;COMMAND")
  if(NOT arg_LABEL)
    message(FATAL_ERROR "terrarium_add_test(${name}): LABEL is missing")
  endif()
  if(NOT arg_TIMEOUT)
    if(arg_LABEL STREQUAL "unit")
      set(arg_TIMEOUT 60)
    else()
      set(arg_TIMEOUT 300)
    endif()
  endif()
  string(REGEX REPLACE "_test$" "" name "${name}")
  set(target ${name}_test)
  if(arg_COMMAND)
    add_test(NAME ${target} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  else()
    add_executable(${target} ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE ${arg_DEPS} GTest::gtest_main GTest::gmock)
    terrarium_target_warnings(${target})
    target_compile_options(${target} PRIVATE ${TERRARIUM_TEST_OPTIONS})
    if(NOT arg_NO_PCH)
      target_precompile_headers(${target} REUSE_FROM terrarium_test_pch)
      target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_test(NAME ${target} COMMAND ${target} --gtest_brief=1 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  set(labels ${arg_LABEL})
  if(arg_THREADS)
    list(APPEND labels threads)
    if(NOT arg_COMMAND)
      add_dependencies(threaded_tests ${target})
    endif()
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${TERRARIUM_TEST_TIMEOUT_FACTOR}")
  set_tests_properties(${target} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
endfunction()
