# SPDX-License-Identifier: Apache-2.0
# Answers the switches of the older, plugin-less build: each was replaced by a plugin or module that is there or not there.
set(novaphy_old_flags
  "NOVAPHY_WITH_DIFF|plugin|nova_diff|nova_diff"
  "NOVAPHY_WITH_CUDA|plugin|cuda_backend|cuda_backend"
  "NOVAPHY_BUILD_VBD|plugin|vbd|vbd"
  "NOVAPHY_WITH_VBD_CUDA|module|vbd_cuda|vbd"
  "NOVAPHY_WITH_VBD_DLAN|module|vbd_dlan|vbd"
  "NOVAPHY_WITH_COLLISION_CUDA|module|collision_cuda|collision"
  "NOVA_ENABLE_NVRTC|module|nova_cuda|nova_diff")

foreach(row IN LISTS novaphy_old_flags)
  string(REGEX MATCH "^(.+)[|](.+)[|](.+)[|](.+)$" row "${row}")
  set(flag "${CMAKE_MATCH_1}")
  set(kind "${CMAKE_MATCH_2}")
  set(name "${CMAKE_MATCH_3}")
  set(plugin "${CMAKE_MATCH_4}")
  if(NOT DEFINED ${flag})
    continue()
  endif()
  # whether the replacement is here: its name stands in the manifest of its plugin
  set(manifest "${CMAKE_CURRENT_LIST_DIR}/../../plugins/${plugin}/${plugin}.novaplugin.json")
  set(here "this source tree does not hold it yet")
  if(EXISTS "${manifest}")
    file(READ "${manifest}" text)
    if(text MATCHES "\"name\"[ ]*:[ ]*\"${name}\"")
      set(here "NOVAPHY_PLUGINS decides whether plugin '${plugin}' is built")
    endif()
  endif()
  message(NOTICE "${flag}=${${flag}} is no switch of this build: ${kind} '${name}' replaces it, and ${here}.")
  unset(${flag} CACHE)
endforeach()
