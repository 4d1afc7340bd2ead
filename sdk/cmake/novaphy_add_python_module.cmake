# SPDX-License-Identifier: Apache-2.0
# novaphy_add_python_module(<plugin> <extension> SOURCES ... [MODULE <module>] [LINK ...])
#
# One Python extension beside the libraries of <plugin>, in the build tree and where it is installed. It binds one
# module, whose library it links: MODULE, or what follows `_novaphy_` in the extension's name, or the module that has
# the plugin's own name. Does nothing when NOVAPHY_BUILD_PYTHON is off.

# Finds the interpreter and its pybind11. The folder is asked of the interpreter at every configure, so that a build in
# pip's throw-away environment and a plain one can share a build folder; the headers are copied into it, so that
# changing between the two does not compile every extension again.
function(novaphy_find_pybind11)
  if(TARGET pybind11::headers)
    return()
  endif()
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # for every folder that adds an extension
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  # for the callers, whose tests run it: the module's own result ends with this function
  set(Python_EXECUTABLE "${Python_EXECUTABLE}" CACHE FILEPATH "The interpreter that the extensions are for")
  execute_process(COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(pybind11_DIR "${folder}" CACHE PATH "Asked of the interpreter at every configure" FORCE)
  endif()
  find_package(pybind11 CONFIG QUIET)
  if(NOT pybind11_FOUND)
    message(FATAL_ERROR "The Python extensions need pybind11 3.1, and ${Python_EXECUTABLE} has none: "
      "install it with '${Python_EXECUTABLE} -m pip install \"pybind11==3.1.*\"', or set NOVAPHY_BUILD_PYTHON=OFF.")
  elseif(pybind11_VERSION VERSION_LESS 3.1)
    message(FATAL_ERROR "The Python extensions need pybind11 3.1, and ${pybind11_DIR} is ${pybind11_VERSION}: "
      "install it with '${Python_EXECUTABLE} -m pip install \"pybind11==3.1.*\"'.")
  endif()
  set(copy "${PROJECT_BINARY_DIR}/pybind11-${pybind11_VERSION}")
  file(COPY "${pybind11_INCLUDE_DIR}/pybind11" DESTINATION "${copy}" FILES_MATCHING PATTERN "*.h")
  foreach(target IN ITEMS pybind11::headers pybind11::pybind11_headers)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${copy}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${copy}")
    endif()
  endforeach()
endfunction()

# novaphy_python_extension(<target> SOURCES ... [LINK ...] [DEFINITIONS ...] RPATH ...): what _core and the plugins'
# extensions have in common.
function(novaphy_python_extension target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;DEFINITIONS;RPATH")
  novaphy_find_pybind11()
  pybind11_add_module(${target} MODULE NO_EXTRAS ${arg_SOURCES})
  novaphy_compile_rules(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${arg_RPATH}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

function(novaphy_add_python_module plugin extension)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "MODULE" "SOURCES;LINK")
  if(DEFINED NOVAPHY_BUILD_PYTHON AND NOT NOVAPHY_BUILD_PYTHON)
    return()
  endif()
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "novaphy_add_python_module(${plugin} ${extension}): "
      "write SOURCES, then [MODULE name] and [LINK targets]; got '${ARGN}'.")
  endif()
  if(NOT arg_MODULE)
    if(extension MATCHES "^_novaphy_(.+)$")
      set(arg_MODULE "${CMAKE_MATCH_1}")
    else()
      set(arg_MODULE "${plugin}")
    endif()
  endif()
  if(NOT TARGET NovaPhy::${arg_MODULE})
    message(FATAL_ERROR "novaphy_add_python_module(${plugin} ${extension}): module '${arg_MODULE}' is not built; "
      "call novaphy_add_plugin or novaphy_add_module for it first, or name it with MODULE.")
  endif()
  novaphy_python_extension(${extension} SOURCES ${arg_SOURCES} LINK NovaPhy::${arg_MODULE} NovaPhy::runtime ${arg_LINK}
    DEFINITIONS "NOVAPHY_PYTHON_PLUGIN_MODULE=\"${arg_MODULE}\"" RPATH "$ORIGIN" "$ORIGIN/../../..")
  set_target_properties(${extension} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${NOVAPHY_PLUGIN_DIR}/${plugin}")
  if(TEST check.${plugin})
    set_property(TEST check.${plugin} PROPERTY ENVIRONMENT "NOVAPHY_PYTHON=${Python_EXECUTABLE}")
  endif()
  install(TARGETS ${extension} LIBRARY DESTINATION "${NOVAPHY_INSTALL_LIBDIR}/novaphy/plugins/${plugin}")
endfunction()
