# SPDX-License-Identifier: Apache-2.0
# novaphy_generate_kernels(<target> <table> [ROWS] SOURCES ...): kernels compiled ahead of time.
#
# Builds a generator from SOURCES, which define nova::aot::stock_kernels() and the kernels that it lists, runs it, and
# adds what it writes to <target>: a source for each instruction set, and a table that adds itself when the module is
# loaded. LINK: what SOURCES link besides Nova.
# ROWS: the table is novaphy::<table>(), whose functions take pointers alone (novaphy/row_kernel.hpp): <target> needs no
# Nova when it runs.
function(novaphy_generate_kernels target table)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ROWS" "" "SOURCES;LINK")
  set(generator novaphy_generate_${table})
  add_executable(${generator} "${NOVAPHY_NOVA_DIR}/aot/generate.cpp" "${NOVAPHY_NOVA_DIR}/aot/write_source.cpp" ${arg_SOURCES})
  novaphy_compile_rules(${generator})
  target_include_directories(${generator} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}"
    "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  target_link_libraries(${generator} PRIVATE novaphy_nova_objects novaphy_runtime ${arg_LINK})
  set_target_properties(${generator} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/generate")

  set(sets base)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND sets v3 v4)
  endif()
  set(form programs)
  if(arg_ROWS)
    set(form rows)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/generated")
  file(MAKE_DIRECTORY "${folder}")
  list(TRANSFORM sets REPLACE "(.+)" "${folder}/${table}_\\1.cpp" OUTPUT_VARIABLE sources)
  add_custom_command(OUTPUT ${sources} "${folder}/${table}_table.cpp"
    COMMAND ${generator} ${form} "${folder}" ${table} ${sets} DEPENDS ${generator} VERBATIM
    COMMENT "Recording the stock kernels of ${table}")
  target_sources(${target} PRIVATE ${sources} "${folder}/${table}_table.cpp")
  target_include_directories(${target} PRIVATE "${NOVAPHY_NOVA_DIR}")
  set(optimize -O2)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")  # thousands of operations in a row: checks of each take minutes to compile
    set(optimize "-O0;-fno-sanitize=undefined")
  endif()
  set_source_files_properties("${folder}/${table}_base.cpp" PROPERTIES COMPILE_OPTIONS "${optimize}")
  set_source_files_properties("${folder}/${table}_v3.cpp" PROPERTIES COMPILE_OPTIONS "${optimize};-march=x86-64-v3")
  set_source_files_properties("${folder}/${table}_v4.cpp" PROPERTIES
    COMPILE_OPTIONS "${optimize};-march=x86-64-v4;-mprefer-vector-width=512;${NOVAPHY_QUIET_AVX512}")
endfunction()
