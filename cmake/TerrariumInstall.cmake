# What `cmake --install` puts where: the libraries with their package files, the headers that go with them, the program.

include(CMakePackageConfigHelpers)

# As the folders have declared them (terrarium_add_library).
get_property(libraries GLOBAL PROPERTY terrarium_installed_libraries)
list(REMOVE_ITEM libraries terrarium_gtest)
get_property(headers GLOBAL PROPERTY terrarium_installed_headers)
list(FILTER headers INCLUDE REGEX "^(api|include|testbed)/")

set(package_dir lib/cmake/Terrarium)
install(TARGETS ${libraries} EXPORT TerrariumTargets ARCHIVE DESTINATION lib)
install(EXPORT TerrariumTargets NAMESPACE Terrarium:: DESTINATION ${package_dir})
if(TARGET terrarium_gtest)
  install(TARGETS terrarium_gtest EXPORT TerrariumGTestTargets ARCHIVE DESTINATION lib)
  install(EXPORT TerrariumGTestTargets NAMESPACE Terrarium:: DESTINATION ${package_dir})
endif()

install(CODE "set(terrarium_source \"${PROJECT_SOURCE_DIR}\")\nset(terrarium_headers \"${headers}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake")

set(terrarium_installed_program bin/terrarium)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/TerrariumConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/TerrariumConfig.cmake"
                              INSTALL_DESTINATION ${package_dir} PATH_VARS terrarium_installed_program)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TerrariumConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TerrariumConfig.cmake" "${PROJECT_BINARY_DIR}/TerrariumConfigVersion.cmake"
        DESTINATION ${package_dir})
if(TARGET terrarium)
  install(TARGETS terrarium RUNTIME DESTINATION bin)
endif()
