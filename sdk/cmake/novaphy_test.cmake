# SPDX-License-Identifier: Apache-2.0
# novaphy_add_test(<name> SOURCES ... [LINK ...]): a doctest executable whose cases CTest lists one by one.
find_package(doctest REQUIRED)
include(doctest)

if(NOT TARGET novaphy_test_main)
  add_library(novaphy_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
  target_link_libraries(novaphy_test_main PUBLIC doctest::doctest)
  target_compile_features(novaphy_test_main PUBLIC cxx_std_20)
endif()

function(novaphy_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;DEFINITIONS")
  set(target novaphy_${name}_test)
  add_executable(${target} ${arg_SOURCES})
  novaphy_compile_rules(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS}
    NOVAPHY_SOURCE_DIR="${PROJECT_SOURCE_DIR}" NOVAPHY_BUILD_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE novaphy_test_main novaphy_runtime ${arg_LINK})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  doctest_discover_tests(${target} TEST_PREFIX "${name}: ")
endfunction()
