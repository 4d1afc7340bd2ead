# SPDX-License-Identifier: Apache-2.0
# Installs what find_package(NovaPhySDK) finds: targets, version and the CMake functions that this project uses too.
include(CMakePackageConfigHelpers)

set(folder "${NOVAPHY_INSTALL_LIBDIR}/cmake/NovaPhySDK")
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)  # every minor release of 0.x may change interfaces
endif()

get_property(NOVAPHY_SDK_MODULES GLOBAL PROPERTY NOVAPHY_SDK_MODULES)
configure_file("${CMAKE_CURRENT_LIST_DIR}/NovaPhySDKConfig.cmake.in" "${PROJECT_BINARY_DIR}/NovaPhySDKConfig.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/NovaPhySDKConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY ${compatibility})

install(EXPORT ${NOVAPHY_SDK_EXPORT} NAMESPACE NovaPhy:: DESTINATION "${folder}")
install(FILES
  "${PROJECT_BINARY_DIR}/NovaPhySDKConfig.cmake" "${PROJECT_BINARY_DIR}/NovaPhySDKConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/novaphy_compile_rules.cmake" "${CMAKE_CURRENT_LIST_DIR}/novaphy_add_plugin.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/novaphy_add_python_module.cmake"
  DESTINATION "${folder}")
