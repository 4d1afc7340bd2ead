# SPDX-License-Identifier: Apache-2.0
# Rules that hold for every target of this project.

include(novaphy_compile_rules)

# CMake itself and find_package say it for the rest.
novaphy_compiler_problem(problem)
if(problem)
  message(FATAL_ERROR "${problem}")
endif()

# One layout everywhere (build tree, prefix, wheel): <lib>/libnovaphy_runtime.so and <lib>/novaphy/plugins/<plugin>/.
set(NOVAPHY_LIB_DIR "${PROJECT_BINARY_DIR}/lib")
set(NOVAPHY_PLUGIN_DIR "${NOVAPHY_LIB_DIR}/novaphy/plugins")
set(NOVAPHY_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(NOVAPHY_PYTHON_DIR "${PROJECT_BINARY_DIR}/python/novaphy")
set(NOVAPHY_INSTALL_BINDIR "bin" CACHE STRING "Where novaphy-host is installed")
set(NOVAPHY_SDK_EXPORT NovaPhySDKTargets)  # the export set of find_package(NovaPhySDK); see sdk/CMakeLists.txt

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(NOVAPHY_CCACHE ccache)
  if(NOVAPHY_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${NOVAPHY_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${NOVAPHY_CCACHE}")
  endif()
endif()

# The warnings of novaphy_compile_rules().
set(NOVAPHY_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns without cause of "text" + string (GCC bug 105651)
  # meant for headers; in a unity build every source file is one
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${NOVAPHY_WARNINGS_AS_ERRORS}>:-Werror>)

include(novaphy_old_flags)
