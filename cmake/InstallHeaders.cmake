# Run at install time. Copies the public headers, and the headers that they include, to <prefix>/include/terrarium, and
# changes their includes accordingly: "api/json.h" becomes <terrarium/api/json.h>. Projects that use them need only
# <prefix>/include in their search path, and a header api/json.h of their own hides none of ours.
#
# In: terrarium_source, terrarium_headers (paths from there), CMAKE_INSTALL_PREFIX, DESTDIR of the environment.

cmake_policy(VERSION 3.25)

set(terrarium_to "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/include/terrarium")
set(terrarium_seen "")
while(terrarium_headers)
  list(POP_FRONT terrarium_headers header)
  if(header IN_LIST terrarium_seen)
    continue()
  endif()
  list(APPEND terrarium_seen "${header}")
  if(header MATCHES "(^|/)internal/")
    message(FATAL_ERROR "a public header includes ${header}, which is private")
  endif()
  file(STRINGS "${terrarium_source}/${header}" includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" include "${include}")
    list(APPEND terrarium_headers "${include}")
  endforeach()
  file(READ "${terrarium_source}/${header}" text)
  string(REGEX REPLACE "(^|\n)#include \"([^\"\n]+)\"" "\\1#include <terrarium/\\2>" text "${text}")
  # What users include stands at the top.
  string(REGEX REPLACE "^include/terrarium/" "" header "${header}")
  set(old "")
  if(EXISTS "${terrarium_to}/${header}")
    file(READ "${terrarium_to}/${header}" old)
  endif()
  if(NOT old STREQUAL text)
    message(STATUS "Installing: ${terrarium_to}/${header}")
    file(WRITE "${terrarium_to}/${header}" "${text}")
  endif()
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/include/terrarium/${header}")
endwhile()
