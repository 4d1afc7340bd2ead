# SPDX-License-Identifier: Apache-2.0
# Compilers and flags that every library for NovaPhy has in common: the project's own and those of third parties.

# novaphy_compiler_problem(<variable>): one sentence where the compiler is too old, or empty.
function(novaphy_compiler_problem variable)
  set(problem "")
  foreach(row IN ITEMS "GNU;g++;12" "Clang;clang;14")
    list(GET row 0 id)
    list(GET row 1 name)
    list(GET row 2 oldest)
    if(CMAKE_CXX_COMPILER_ID STREQUAL id AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
      set(problem "${name} ${CMAKE_CXX_COMPILER_VERSION} is too old; NovaPhy needs ${name} ${oldest} or newer.")
    endif()
  endforeach()
  set(${variable} "${problem}" PARENT_SCOPE)
endfunction()

# novaphy_compile_rules(<target>): C++20, exact float32 arithmetic, hidden symbols.
# No contraction and no fast-math: every rounding is the one that the source says, on every tier. Warnings are the
# choice of whoever builds: NOVAPHY_WARNINGS is empty outside of this project.
function(novaphy_compile_rules target)
  if(CMAKE_CXX_COMPILER_LOADED)
    target_compile_features(${target} PUBLIC cxx_std_20)
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno ${NOVAPHY_WARNINGS})
endfunction()
