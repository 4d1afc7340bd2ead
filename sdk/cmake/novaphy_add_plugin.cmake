# SPDX-License-Identifier: Apache-2.0
# novaphy_add_plugin() and novaphy_add_module(): a plugin is a folder with a manifest, a module is one library of it.
#
#   novaphy_add_plugin(<plugin> MANIFEST <file> [SOURCES ...] [LINK ...] [LINK_MODULES ...]
#                      [DATA <dir>] [PUBLIC_INCLUDE <dir>])
#     SOURCES make the module of the plugin's own name. PUBLIC_INCLUDE (default: include, where it exists) is what
#     a module that links one of this plugin's modules sees.
#   novaphy_add_module(<plugin> <module> SOURCES ... [LINK ...] [LINK_MODULES ...])
#     LINK_MODULES: modules whose library this one links; the manifest must require them. Where one of them is neither
#     part of this build nor of the SDK the module is left out, and the runtime says at run time what is missing.
#
# Where CTest is on (enable_testing() before the call), each plugin has a test check.<plugin>: novaphy-host check.
#
# Names and versions stand in the manifest alone: the build reads them there, stamps `abi` and `library` into the
# copy that lies beside the libraries, and refuses a name that does not agree.

set(NOVAPHY_INSTALL_LIBDIR "lib" CACHE STRING
  "Where the runtime library is installed; plugins go to novaphy/plugins below it")
# Where plugins lie in a build folder. The layout is that of an installation, so one relative rpath serves both.
set(NOVAPHY_PLUGIN_DIR "${CMAKE_BINARY_DIR}/lib/novaphy/plugins" CACHE INTERNAL "Plugins in the build folder")

function(novaphy_add_plugin plugin)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;DATA;PUBLIC_INCLUDE" "SOURCES;LINK;LINK_MODULES")
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "novaphy_add_plugin(${plugin}): MANIFEST is missing")
  endif()
  cmake_path(ABSOLUTE_PATH arg_MANIFEST BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE manifest)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  file(READ "${manifest}" json)
  _novaphy_json(name "${manifest}" "${json}" name)
  _novaphy_json(version "${manifest}" "${json}" version)
  cmake_path(GET manifest FILENAME file_name)
  if(NOT name STREQUAL plugin)
    message(FATAL_ERROR "${manifest}#/name: is '${name}', novaphy_add_plugin() says '${plugin}'; make them equal")
  endif()
  if(NOT file_name STREQUAL "${plugin}.novaplugin.json")
    message(FATAL_ERROR "${manifest}: must be called ${plugin}.novaplugin.json")
  endif()

  set(include "")
  if(arg_PUBLIC_INCLUDE)
    cmake_path(ABSOLUTE_PATH arg_PUBLIC_INCLUDE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
      OUTPUT_VARIABLE include)
  elseif(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/include")
    set(include "${CMAKE_CURRENT_SOURCE_DIR}/include")
  endif()
  set_property(GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_MANIFEST "${manifest}")
  set_property(GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_VERSION "${version}")
  set_property(GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_INCLUDE "${include}")

  _novaphy_stamp_manifest(${plugin} "${manifest}" "${json}")
  if(include)
    install(DIRECTORY "${include}/" DESTINATION include)
  endif()
  if(arg_DATA)
    _novaphy_add_data(${plugin} "${arg_DATA}")
  endif()
  if(arg_SOURCES)
    novaphy_add_module(${plugin} ${plugin} SOURCES ${arg_SOURCES} LINK ${arg_LINK} LINK_MODULES ${arg_LINK_MODULES})
  endif()
  if(TARGET NovaPhy::host)
    add_test(NAME check.${plugin}
      COMMAND $<TARGET_FILE:NovaPhy::host> check "${NOVAPHY_PLUGIN_DIR}/${plugin}/${plugin}.novaplugin.json")
  endif()
endfunction()

function(novaphy_add_module plugin module)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK;LINK_MODULES")
  get_property(manifest GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_MANIFEST)
  get_property(version GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_VERSION)
  get_property(include GLOBAL PROPERTY NOVAPHY_PLUGIN_${plugin}_INCLUDE)
  if(NOT manifest)
    message(FATAL_ERROR "novaphy_add_module(${plugin} ${module}): call novaphy_add_plugin(${plugin} ...) first")
  endif()
  _novaphy_check_module(${module} "${manifest}" "${arg_LINK_MODULES}")

  foreach(required IN LISTS arg_LINK_MODULES)
    if(NOT TARGET NovaPhy::${required})
      message(STATUS
        "NovaPhy: module '${module}' is not built: it links '${required}', which is part of neither this build nor the SDK")
      return()
    endif()
  endforeach()

  set(target novaphy_${module})
  add_library(${target} SHARED ${arg_SOURCES})
  add_library(NovaPhy::${module} ALIAS ${target})
  novaphy_compile_rules(${target})
  target_compile_definitions(${target} PRIVATE NOVAPHY_MODULE_NAME="${module}" NOVAPHY_MODULE_VERSION="${version}")
  if(include)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${include}>")
  endif()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  list(TRANSFORM arg_LINK_MODULES PREPEND NovaPhy:: OUTPUT_VARIABLE module_targets)
  target_link_libraries(${target} PUBLIC NovaPhy::runtime ${module_targets} PRIVATE ${arg_LINK})
  _novaphy_link_rules(${target})
  _novaphy_build_required(${target} ${module} "${manifest}")

  set(rpath "$ORIGIN" "$ORIGIN/../../..")
  foreach(required IN LISTS module_targets)
    get_target_property(required_plugin ${required} NOVAPHY_PLUGIN)
    list(APPEND rpath "$ORIGIN/../${required_plugin}")
  endforeach()
  list(REMOVE_DUPLICATES rpath)
  set_target_properties(${target} PROPERTIES
    NOVAPHY_PLUGIN ${plugin} LIBRARY_OUTPUT_DIRECTORY "${NOVAPHY_PLUGIN_DIR}/${plugin}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${rpath}")
  _novaphy_install_module(${target} ${module} "${include}")
endfunction()

# Into the folder of its plugin. A module of this project that has public headers is also a target of the SDK.
function(_novaphy_install_module target module include)
  get_target_property(plugin ${target} NOVAPHY_PLUGIN)
  set(export "")
  if(NOVAPHY_SDK_EXPORT AND include)
    set(export EXPORT ${NOVAPHY_SDK_EXPORT})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${module} EXPORT_PROPERTIES NOVAPHY_PLUGIN)
    set_property(GLOBAL APPEND PROPERTY NOVAPHY_SDK_MODULES ${module})
  endif()
  install(TARGETS ${target} ${export} LIBRARY DESTINATION "${NOVAPHY_INSTALL_LIBDIR}/novaphy/plugins/${plugin}")
endfunction()

# Undefined symbols fail at build time; symbols of static libraries stay private; the library is never unmapped.
function(_novaphy_link_rules target)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  # clang leaves its sanitizer runtime to the executable, so there the symbols are undefined on purpose
  if(NOT (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# A module that is built alone brings what it needs to be loaded.
function(_novaphy_build_required target module manifest)
  file(READ "${manifest}" json)
  string(JSON count LENGTH "${json}" modules)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON name GET "${json}" modules ${index} name)
    string(JSON required_count ERROR_VARIABLE absent LENGTH "${json}" modules ${index} requires)
    if(NOT name STREQUAL module OR absent OR required_count EQUAL 0)
      continue()
    endif()
    math(EXPR last_required "${required_count} - 1")
    foreach(position RANGE ${last_required})
      string(JSON required MEMBER "${json}" modules ${index} requires ${position})
      if(TARGET novaphy_${required})
        add_dependencies(${target} novaphy_${required})
      endif()
    endforeach()
  endforeach()
endfunction()

# Writes the manifest with `abi` and `library` of each module beside the libraries.
function(_novaphy_stamp_manifest plugin manifest json)
  string(JSON count ERROR_VARIABLE error LENGTH "${json}" modules)
  if(error OR count EQUAL 0)
    message(FATAL_ERROR "${manifest}#/modules: must be an array with at least one module")
  endif()
  get_target_property(abi NovaPhy::sdk NOVAPHY_ABI)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    _novaphy_json(module "${manifest}" "${json}" modules ${index} name)
    string(JSON json SET "${json}" modules ${index} abi "\"${abi}\"")
    string(JSON library ERROR_VARIABLE absent GET "${json}" modules ${index} library)
    if(absent)
      string(JSON json SET "${json}" modules ${index} library
        "\"${CMAKE_SHARED_LIBRARY_PREFIX}novaphy_${module}${CMAKE_SHARED_LIBRARY_SUFFIX}\"")
    endif()
  endforeach()
  set(stamped "${NOVAPHY_PLUGIN_DIR}/${plugin}/${plugin}.novaplugin.json")
  file(CONFIGURE OUTPUT "${stamped}" CONTENT "${json}\n" @ONLY)
  install(FILES "${stamped}" DESTINATION "${NOVAPHY_INSTALL_LIBDIR}/novaphy/plugins/${plugin}")
endfunction()

# A module must stand in its plugin's manifest and may link only what it requires there.
function(_novaphy_check_module module manifest link_modules)
  file(READ "${manifest}" json)
  string(JSON count LENGTH "${json}" modules)
  math(EXPR last "${count} - 1")
  set(names "")
  foreach(index RANGE ${last})
    _novaphy_json(name "${manifest}" "${json}" modules ${index} name)
    list(APPEND names "${name}")
    if(NOT name STREQUAL module)
      continue()
    endif()
    foreach(required IN LISTS link_modules)
      string(JSON range ERROR_VARIABLE absent GET "${json}" modules ${index} requires ${required})
      if(absent)
        message(FATAL_ERROR
          "${manifest}#/modules/${index}: '${module}' links '${required}', which is not in its requires; add it there")
      endif()
    endforeach()
    return()
  endforeach()
  list(JOIN names ", " names)
  message(FATAL_ERROR
    "${manifest}#/modules: has no module '${module}', which novaphy_add_module() names; it has: ${names}")
endfunction()

# Copies the plugin's assets beside its libraries at each build.
function(_novaphy_add_data plugin folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  cmake_path(GET folder FILENAME name)
  add_custom_target(novaphy_${plugin}_data ALL
    COMMAND ${CMAKE_COMMAND} -E copy_directory "${folder}" "${NOVAPHY_PLUGIN_DIR}/${plugin}/${name}")
  install(DIRECTORY "${folder}" DESTINATION "${NOVAPHY_INSTALL_LIBDIR}/novaphy/plugins/${plugin}")
endfunction()

# _novaphy_json(<variable> <file> <json> <path>...): one value of the manifest, or a configure error that names it.
function(_novaphy_json variable file json)
  string(JSON value ERROR_VARIABLE error GET "${json}" ${ARGN})
  if(error)
    list(JOIN ARGN "/" pointer)
    message(FATAL_ERROR "${file}#/${pointer}: ${error}")
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()
