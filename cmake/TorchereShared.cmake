# torchere_shared_library(): libtorchere.so, made of the object library of every folder but cli; and beside it
# libtorchere_interpreter.so, by which PJRT's clients find the interpreter in it.
# torchere_cpu_library(): libtorchere_cpu.so, the CPU engine as a PJRT plugin.
# torchere_tool(NAME torchere_program OUTPUT_NAME torchere SOURCES main.cpp): a program of the wheel's torchere/bin, linked
# to it. The target torchere_wheel builds all that the wheel holds.
#
# MLIR is linked statically and hidden: TensorFlow exports LLVM's symbols, and two LLVMs that see each other
# in one process abort.

add_custom_target(torchere_wheel)

function(torchere_shared_library)
  get_property(folders GLOBAL PROPERTY TORCHERE_FOLDERS)
  list(REMOVE_ITEM folders torchere_cli)
  list(FILTER folders EXCLUDE REGEX "^torchere_cpu") # the engine is a library of its own
  set(version_script ${PROJECT_SOURCE_DIR}/cmake/libtorchere.map)
  add_library(torchere SHARED)
  foreach(folder IN LISTS folders)
    target_sources(torchere PRIVATE $<TARGET_OBJECTS:${folder}>)
  endforeach()
  target_link_libraries(torchere PUBLIC torchere_options PRIVATE ${CMAKE_DL_LIBS})
  if(TARGET torchere_mlir)
    target_link_libraries(torchere PRIVATE torchere_mlir)
  endif()
  target_link_options(torchere PRIVATE
    -Wl,--version-script=${version_script} -Wl,--exclude-libs,ALL -Wl,-Bsymbolic
    -Wl,--build-id=sha1) # by which the compile cache tells builds apart
  if(NOT TORCHERE_SANITIZE)
    target_link_options(torchere PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(torchere PROPERTIES
    LINK_DEPENDS ${version_script}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN")
  add_dependencies(torchere_wheel torchere)
  torchere_install(TARGETS torchere DESTINATION lib)

  add_library(torchere_interpreter_library SHARED
    ${PROJECT_SOURCE_DIR}/src/interpreter_plugin/library/get_pjrt_api.cpp)
  target_link_libraries(torchere_interpreter_library PRIVATE torchere)
  set_target_properties(torchere_interpreter_library PROPERTIES
    OUTPUT_NAME torchere_interpreter
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN")
  add_dependencies(torchere_wheel torchere_interpreter_library)
  torchere_install(TARGETS torchere_interpreter_library DESTINATION lib)
endfunction()

# Self-contained: it holds the folders that it is made of, and MLIR, so that any client of PJRT can load it alone.
function(torchere_cpu_library)
  set(version_script ${PROJECT_SOURCE_DIR}/cmake/libtorchere_cpu.map)
  add_library(torchere_cpu_library SHARED ${PROJECT_SOURCE_DIR}/src/cpu/plugin/library/get_pjrt_api.cpp)
  torchere_link_folders(TARGET torchere_cpu_library FOLDERS cpu_plugin)
  target_link_options(torchere_cpu_library PRIVATE
    -Wl,--version-script=${version_script} -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--build-id=sha1)
  if(NOT TORCHERE_SANITIZE)
    target_link_options(torchere_cpu_library PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(torchere_cpu_library PROPERTIES
    OUTPUT_NAME torchere_cpu
    LINK_DEPENDS ${version_script})
  add_dependencies(torchere_wheel torchere_cpu_library)
  torchere_install(TARGETS torchere_cpu_library DESTINATION lib)
endfunction()

function(torchere_tool)
  cmake_parse_arguments(arg "" "NAME;OUTPUT_NAME" "SOURCES" ${ARGN})
  if(NOT arg_OUTPUT_NAME)
    set(arg_OUTPUT_NAME ${arg_NAME})
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE torchere)
  set_target_properties(${arg_NAME} PROPERTIES
    OUTPUT_NAME ${arg_OUTPUT_NAME}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib")
  add_dependencies(torchere_wheel ${arg_NAME})
  torchere_install(TARGETS ${arg_NAME} DESTINATION bin)
endfunction()
