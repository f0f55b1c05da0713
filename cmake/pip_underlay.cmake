# Only builds against pip's ROS wheels use this file:
# -DCMAKE_PROJECT_gemma_node_INCLUDE=<this file>.
#
# It runs after every find_package and before generation, and mends include folders of targets:
# - The exported targets of the wheels name folders of the machine that built the wheels. CMake
#   refuses imported targets whose include folders don't exist, so they are dropped.
# - A .venv inside the repository puts numpy's headers below the source folder. CMake refuses to
#   export such a path, so it holds for the build alone.
# Generator expressions stay as they are.
#
# It also precompiles the headers that every generated C++ file includes: a third less time, and
# pip builds in isolation, so each installation pays the whole of it.

function(_pip_underlay_mend target)
  get_target_property(folders "${target}" INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(is_imported "${target}" IMPORTED)
  if(NOT folders)
    return()
  endif()
  set(kept "")
  foreach(folder IN LISTS folders)
    if(folder MATCHES "\\$<")
      list(APPEND kept "${folder}")
    elseif(NOT is_imported)
      list(APPEND kept "$<BUILD_INTERFACE:${folder}>")
    elseif(EXISTS "${folder}")
      list(APPEND kept "${folder}")
    endif()
  endforeach()
  set_target_properties("${target}" PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
endfunction()

function(_pip_underlay_mend_all)
  get_directory_property(imported DIRECTORY "${CMAKE_SOURCE_DIR}" IMPORTED_TARGETS)
  foreach(target IN LISTS imported)
    _pip_underlay_mend("${target}")
  endforeach()
  if(TARGET gemma_node__rosidl_generator_py)
    _pip_underlay_mend(gemma_node__rosidl_generator_py)
  endif()
  _pip_underlay_precompile()
endfunction()

function(_pip_underlay_precompile)
  foreach(name typesupport_cpp typesupport_fastrtps_c typesupport_fastrtps_cpp
      typesupport_introspection_cpp)
    set(headers "array" "limits" "memory" "stdexcept" "string" "vector")
    if(name MATCHES "fastrtps")
      list(APPEND headers "fastcdr/Cdr.h")
    endif()
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    if(TARGET gemma_node__rosidl_${name})
      target_precompile_headers(gemma_node__rosidl_${name} PRIVATE ${headers})
    endif()
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _pip_underlay_mend_all)
