# Only the pip build uses this file: -DCMAKE_PROJECT_gemma_node_INCLUDE=<this file>.
#
# The exported targets of the ROS wheels name include folders of the machine that built the
# wheels. CMake refuses imported targets whose include folders don't exist, so drop those,
# after every find_package and before generation. Generator expressions stay as they are.

function(_pip_underlay_drop_missing_includes target)
  get_target_property(folders "${target}" INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT folders)
    return()
  endif()
  set(kept "")
  foreach(folder IN LISTS folders)
    if(folder MATCHES "\\$<" OR EXISTS "${folder}")
      list(APPEND kept "${folder}")
    endif()
  endforeach()
  set_target_properties("${target}" PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
endfunction()

function(_pip_underlay_clean)
  get_directory_property(targets DIRECTORY "${CMAKE_SOURCE_DIR}" IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    _pip_underlay_drop_missing_includes("${target}")
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _pip_underlay_clean)
