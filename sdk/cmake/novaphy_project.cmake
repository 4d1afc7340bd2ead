# SPDX-License-Identifier: Apache-2.0
# Rules that hold for every target of this project.

# The oldest compilers; CMake itself and find_package say it for the rest.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old; NovaPhy needs g++ 12 or newer.")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "clang ${CMAKE_CXX_COMPILER_VERSION} is too old; NovaPhy needs clang 14 or newer.")
endif()

# One layout everywhere (build tree, prefix, wheel): <lib>/libnovaphy_runtime.so and <lib>/novaphy/plugins/<plugin>/.
set(NOVAPHY_LIB_DIR "${PROJECT_BINARY_DIR}/lib")
set(NOVAPHY_PLUGIN_DIR "${NOVAPHY_LIB_DIR}/novaphy/plugins")
set(NOVAPHY_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(NOVAPHY_PYTHON_DIR "${PROJECT_BINARY_DIR}/python/novaphy")

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

# novaphy_compile_rules(<target>): C++20, exact float32 arithmetic, hidden symbols, warnings.
# No contraction and no fast-math: every rounding is the one that the source says, on every tier.
function(novaphy_compile_rules target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns without cause of "text" + string (GCC bug 105651)
    # meant for headers; in a unity build every source file is one
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
    $<$<BOOL:${NOVAPHY_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

include(novaphy_old_flags)
