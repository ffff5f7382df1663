# torchere_library(NAME base DEPENDS ... [USES_MLIR] [UNITY count]): the object library of one folder of src/. UNITY is the number
# of files that are compiled as one, 8 by default.
#
# Takes every .cpp of the folder (listed at configure time), so that adding a file needs no edit here.
# Objects, not archives: the linker's --exclude-libs,ALL hides whatever sits in an archive.
#
# torchere_link_folders(TARGET x_test FOLDERS session ...): the objects of these folders and of all that they depend on, for
# a program that does not go through libtorchere.so.
#
# torchere_isa_libraries(NAME cpu_kernels): the folder's isa/*.cpp, as an object library for each instruction set of the target, in a
# namespace TORCHERE_ISA of its own; isa/extensions/NAME.cpp for AVX-512 with that extension, likewise. Sets NAME_isas, their names for
# DEPENDS, and NAME_definitions, by which code knows which there are.
#
# torchere_families(TABLE OpTable TEMPLATE file.cpp.in SOURCES variable): for the files of ops/, each of which defines
# add<File>(OpTable &), writes a source from the template that declares these (@declarations@) and calls each
# (@calls@), or lists each with its file's name (@entries@). The variable gets all sources.

# {fmt} as an archive: Debian has it as headers or as a shared library.
add_library(torchere_formatting STATIC ${CMAKE_SOURCE_DIR}/src/base/formatting/formatting.cpp)
target_include_directories(torchere_formatting SYSTEM PUBLIC
                           $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)

add_library(torchere_options INTERFACE)
target_compile_options(torchere_options INTERFACE -Wall -Wextra -Werror)
target_include_directories(torchere_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/src)
target_compile_options(torchere_options INTERFACE -ffunction-sections -fdata-sections)
target_link_libraries(torchere_options INTERFACE tl::expected torchere_formatting
                      nlohmann_json::nlohmann_json Threads::Threads)
if(TORCHERE_SANITIZE)
  # vptr needs RTTI, which code on MLIR has not; gcc 12's maybe-uninitialized misfires on instrumented code.
  set(sanitize -fsanitize=${TORCHERE_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_compile_options(torchere_options INTERFACE ${sanitize})
  target_compile_options(torchere_formatting PRIVATE ${sanitize})
  target_link_options(torchere_options INTERFACE -fsanitize=${TORCHERE_SANITIZE})
endif()

# LLVM is built without RTTI, so code that derives from its classes must be as well.
add_library(torchere_mlir_options INTERFACE)
target_include_directories(torchere_mlir_options SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(torchere_mlir_options INTERFACE -fno-rtti -Wno-unused-parameter)
if(TORCHERE_SANITIZE STREQUAL thread)
  # MLIR's archives are not instrumented, and share with our code on MLIR whatever is inline.
  target_compile_options(torchere_mlir_options INTERFACE -fno-sanitize=thread)
endif()

# torchere_unity(TARGET COUNT): compiles COUNT of its files at a time (8 by default; 0 for all of them, 1 for each alone).
option(TORCHERE_UNITY "Compile several files of a folder as one: reading the headers takes most of a file's time" ON)
function(torchere_unity target count)
  if(count STREQUAL "")
    set(count 8)
  endif()
  if(TORCHERE_UNITY AND NOT count EQUAL 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

function(torchere_library)
  cmake_parse_arguments(arg "USES_MLIR" "NAME;UNITY" "DEPENDS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(target torchere_${arg_NAME})
  add_library(${target} OBJECT ${sources} ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY TORCHERE_FOLDERS ${target})
  target_link_libraries(${target} PUBLIC torchere_options)
  if(arg_USES_MLIR)
    target_link_libraries(${target} PRIVATE torchere_mlir_options PUBLIC torchere_mlir)
    # Code on MLIR may include any dialect's generated headers; torchere_stablehlo_headers makes them.
    add_dependencies(${target} torchere_stablehlo_headers)
    # Reading MLIR and the dialect takes most of a file's time, so it is done once for all folders.
    if(arg_NAME STREQUAL stablehlo)
      target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/stablehlo/dialect.h)
    else()
      target_precompile_headers(${target} REUSE_FROM torchere_stablehlo)
    endif()
  endif()
  torchere_unity(${target} "${arg_UNITY}")
  set_target_properties(${target} PROPERTIES TORCHERE_DEPENDS "${arg_DEPENDS}")
  foreach(dependency IN LISTS arg_DEPENDS)
    add_dependencies(${target} torchere_${dependency})
  endforeach()
endfunction()

function(torchere_isa_libraries)
  cmake_parse_arguments(arg "" "NAME" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/isa/*.cpp)
  file(GLOB extensions CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/isa/extensions/*.cpp)
  set(flags_baseline "")
  set(sources_baseline ${sources})
  set(isas baseline)
  set(definitions "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    list(APPEND isas avx2 avx512)
    list(APPEND definitions TORCHERE_CPU_X86)
    set(sources_avx2 ${sources})
    set(sources_avx512 ${sources})
    set(flags_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mpopcnt)
    set(flags_avx512 ${flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
    if(TORCHERE_SANITIZE)
      list(APPEND flags_avx512 -Wno-uninitialized) # gcc 12's own headers, once more
    endif()
    if(TORCHERE_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # The stack on which returned frames are kept is aligned to 32 bytes, vectors are to 64.
      list(APPEND flags_avx512 "SHELL:--param asan-use-after-return=0")
    endif()
    set(extended_avx512vnni -mavx512vnni)
    set(extended_avx512bf16 -mavx512bf16)
    set(extended_amx "") # its instructions are written as such
    if(TORCHERE_EMULATE_AVX512)
      set(flags_avx512 -mavx2 -mfma -DTORCHERE_EMULATED_AVX512)
      list(APPEND definitions TORCHERE_EMULATED_AVX512)
    endif()
    foreach(extension IN LISTS extensions)
      cmake_path(GET extension STEM isa)
      list(APPEND isas ${isa})
      set(sources_${isa} ${extension})
      set(flags_${isa} ${flags_avx512})
      if(NOT TORCHERE_EMULATE_AVX512)
        list(APPEND flags_${isa} ${extended_${isa}})
      endif()
    endforeach()
  endif()
  set(names "")
  foreach(isa IN LISTS isas)
    set(target torchere_${arg_NAME}_${isa})
    add_library(${target} OBJECT ${sources_${isa}})
    set_property(GLOBAL APPEND PROPERTY TORCHERE_FOLDERS ${target})
    target_link_libraries(${target} PUBLIC torchere_options)
    target_compile_definitions(${target} PRIVATE TORCHERE_ISA=${isa})
    # Wide vectors are passed between inlined functions only, so their calling convention does not matter.
    target_compile_options(${target} PRIVATE ${flags_${isa}} $<$<CONFIG:Release>:-O3> -ffp-contract=fast -fno-math-errno
                                             -fno-trapping-math -Wno-psabi
                                             -Wno-maybe-uninitialized # gcc 12's own headers
                                             $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
    list(APPEND names ${arg_NAME}_${isa})
  endforeach()
  set(${arg_NAME}_isas ${names} PARENT_SCOPE)
  set(${arg_NAME}_definitions ${definitions} PARENT_SCOPE)
endfunction()

function(torchere_link_folders)
  cmake_parse_arguments(arg "" "TARGET" "FOLDERS" ${ARGN})
  set(linked)
  while(arg_FOLDERS)
    list(POP_FRONT arg_FOLDERS folder)
    if(NOT folder IN_LIST linked)
      list(APPEND linked ${folder})
      target_link_libraries(${arg_TARGET} PRIVATE torchere_${folder})
      get_target_property(dependencies torchere_${folder} TORCHERE_DEPENDS)
      if(dependencies)
        list(APPEND arg_FOLDERS ${dependencies})
      endif()
    endif()
  endwhile()
endfunction()

function(torchere_families)
  cmake_parse_arguments(arg "" "TABLE;TEMPLATE;SOURCES" "" ${ARGN})
  file(GLOB families CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ops/*.cpp)
  set(declarations "")
  set(calls "")
  set(entries "")
  foreach(family IN LISTS families)
    get_filename_component(stem ${family} NAME_WE)
    string(REGEX MATCHALL "[a-z0-9]+" words ${stem})
    set(function "add")
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 initial)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${initial} initial)
      string(APPEND function "${initial}${rest}")
    endforeach()
    string(APPEND declarations "void ${function}(${arg_TABLE} &table);\n")
    string(APPEND calls "  ${function}(table);\n")
    string(APPEND entries "    {\"${stem}\", &${function}},\n")
  endforeach()
  string(REGEX REPLACE "\\.in$" "" source ${arg_TEMPLATE})
  configure_file(${arg_TEMPLATE} ${CMAKE_CURRENT_BINARY_DIR}/${source} @ONLY)
  set(${arg_SOURCES} ${families} ${CMAKE_CURRENT_BINARY_DIR}/${source} PARENT_SCOPE)
endfunction()
