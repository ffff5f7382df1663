# torchere_package(): what C and C++ users find Torchère by: headers, a package of CMake, a file of pkg-config. They are in
# the build tree, in the wheel (component python, below torchere/), and, by a plain `cmake --install`, below the prefix
# (component cpp). Everywhere include/, lib/ and bin/ lie side by side, so that each file finds the others.
#
# torchere_install(TARGETS ... | FILES ... DESTINATION dir): into both.
include(CMakePackageConfigHelpers)

function(torchere_install)
  cmake_parse_arguments(arg "" "DESTINATION" "TARGETS;FILES" ${ARGN})
  if(arg_TARGETS)
    set(what TARGETS ${arg_TARGETS})
  else()
    set(what FILES ${arg_FILES})
  endif()
  install(${what} DESTINATION torchere/${arg_DESTINATION} COMPONENT python EXCLUDE_FROM_ALL)
  install(${what} DESTINATION ${arg_DESTINATION} COMPONENT cpp)
endfunction()

function(torchere_package)
  set(package ${CMAKE_BINARY_DIR}/lib/cmake/Torchere)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/TorchereConfig.cmake.in ${package}/TorchereConfig.cmake @ONLY)
  write_basic_package_version_file(${package}/TorchereConfigVersion.cmake VERSION ${PROJECT_VERSION}
                                   COMPATIBILITY SameMinorVersion)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/torchere.pc.in ${CMAKE_BINARY_DIR}/lib/pkgconfig/torchere.pc @ONLY)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include SYMBOLIC)
  torchere_install(FILES ${package}/TorchereConfig.cmake ${package}/TorchereConfigVersion.cmake
                   DESTINATION lib/cmake/Torchere)
  torchere_install(FILES ${CMAKE_BINARY_DIR}/lib/pkgconfig/torchere.pc DESTINATION lib/pkgconfig)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/torchere/*)
  torchere_install(FILES ${headers} DESTINATION include/torchere)
endfunction()
