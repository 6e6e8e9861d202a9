# Finds every library the project uses, so that a folder only names the target it links:
#   nlohmann_json::nlohmann_json  spdlog::spdlog  SQLite::SQLite3  PkgConfig::libyaml  CLI11::CLI11
#   prometheus-cpp::core  date::date-tz  Drogon::Drogon  OpenSSL::SSL  CURL::libcurl  Threads::Threads
#   and in a developer build GTest::gtest_main  GTest::gmock  benchmark::benchmark
# What users of the installed package need as well is listed once more in TerrariumConfig.cmake.in.

option(TERRARIUM_HTTP "Build the HTTP server and the program terrarium, which need Drogon, OpenSSL, libcurl and CLI11" ON)

find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(date REQUIRED)  # time zones

find_package(PkgConfig REQUIRED)
pkg_check_modules(libyaml REQUIRED IMPORTED_TARGET yaml-0.1)

# Documents are many small pieces that one thread makes and another frees, which glibc's allocator is slow at. Only for
# programs that are measured: sanitizers bring their own.
find_library(terrarium_tcmalloc NAMES tcmalloc_minimal)

if(TERRARIUM_DEVELOPER_BUILD)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
else()
  find_package(GTest QUIET)  # for Terrarium::GTest, where there is one
endif()

if(NOT TERRARIUM_HTTP)
  return()
endif()
find_package(OpenSSL REQUIRED)
find_package(CURL 7.87 REQUIRED)  # CURLOPT_QUICK_EXIT
find_package(CLI11 REQUIRED)

# An installed Drogon that is new enough comes first, then the one that tools/setup/drogon.sh built into the cache
# folder; so a `cmake --preset dev` by hand finds what ./test made. Older ones have no asynchronous streamed response.
set(terrarium_drogon_version_min 1.9.2)
find_package(Drogon ${terrarium_drogon_version_min} QUIET CONFIG)
if(NOT Drogon_FOUND)
  if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(terrarium_drogon_prefix "$ENV{XDG_CACHE_HOME}/terrarium/drogon/current")
  else()
    set(terrarium_drogon_prefix "$ENV{HOME}/.cache/terrarium/drogon/current")
  endif()
  # Drogon's own package file looks for trantor the same way.
  list(PREPEND CMAKE_PREFIX_PATH "${terrarium_drogon_prefix}")
  find_package(Drogon ${terrarium_drogon_version_min} QUIET CONFIG)
endif()
if(NOT Drogon_FOUND)
  message(FATAL_ERROR "Drogon >= ${terrarium_drogon_version_min} is neither installed nor in "
                      "${terrarium_drogon_prefix}: run ./test or ./run once, they build it.")
endif()
message(STATUS "Drogon ${Drogon_VERSION}: ${Drogon_DIR}")
