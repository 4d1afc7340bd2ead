# SPDX-License-Identifier: Apache-2.0
# Writes HEADER with the commit of SOURCE, and touches it only when the commit is another one.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(commit "unknown")
endif()
set(text "// The commit that this build was made from.\n#pragma once\ninline constexpr const char* kCommit = \"${commit}\";\n")
set(present "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" present)
endif()
if(NOT present STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
