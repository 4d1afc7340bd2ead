# SPDX-License-Identifier: Apache-2.0
# Script: writes HEADER with the commit of SOURCE, and touches it only when the commit is another one.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT "${HEADER}" @ONLY
  CONTENT "// The commit that this build was made from.\n#pragma once\ninline constexpr const char* kCommit = \"@commit@\";\n")
