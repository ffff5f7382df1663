# Finds what the core is built from; docs/dependencies.md gives each one's reason.
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(TORCHERE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Torchère is built on MLIR 22: found ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache asks of a build with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# torchere_mlir: MLIR's static libraries, for whatever links object files that use MLIR. The exported targets
# name the shared libLLVM and libzstd; both are turned to archives, so that nothing built here loads another
# copy of LLVM's globals. They name z3 too, which falls away because nothing here uses it.
function(torchere_use_archive target archive)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} IMPORTED_LOCATION_RELEASE ${archive}
                        IMPORTED_LOCATION_RELWITHDEBINFO ${archive} INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
find_library(TORCHERE_ZSTD_ARCHIVE libzstd.a REQUIRED)
torchere_use_archive(zstd::libzstd_shared ${TORCHERE_ZSTD_ARCHIVE})
torchere_use_archive(LLVM ${LLVM_LIBRARY_DIR}/libLLVMSupport.a LLVMRemarks LLVMTargetParser LLVMBinaryFormat
                     LLVMSupport LLVMDemangle)
add_library(torchere_mlir INTERFACE)
target_link_libraries(torchere_mlir INTERFACE
  MLIRAnalysis MLIRBytecodeReader MLIRBytecodeWriter MLIRFuncDialect MLIRIR MLIRParser MLIRPass MLIRQuantDialect
  MLIRTransforms MLIRTransformUtils)
