# Chooses the linker: lld where it is installed, because it links LLVM's archives several times faster. What no
# code reaches is left out, of our objects and of MLIR's archives.
find_program(TORCHERE_LLD ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR})
if(TORCHERE_LLD)
  get_filename_component(lld_directory ${TORCHERE_LLD} DIRECTORY)
  # gcc 12 finds `ld.lld` by its plain name only; -B adds the folder where it looks.
  add_link_options(-fuse-ld=lld -B${lld_directory})
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed)
message(STATUS "Linker: ${TORCHERE_LLD}")
