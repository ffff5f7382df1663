/* torchere.h is C: this file only has to compile, as C11 with all warnings. */
#include <torchere/torchere.h>

int usesTheHeaderFromC(void);
int usesTheHeaderFromC(void) {
  torchere_load_options options = {0};
  torchere_program program = NULL;
  options.struct_size = sizeof options;
  return torchere_program_load("/none", &options, &program) == TORCHERE_NOT_FOUND && program == NULL;
}
