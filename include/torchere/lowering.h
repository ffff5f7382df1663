/* Lowerings of ops in a shared library: the interface between it and Torchère.
 *
 * The library exports torchere_register_lowerings(). A program that exports loads it by its path, with
 * torchere.load_lowerings("/path/lib.so"); an artifact never names a library. Structures grow at their ends
 * only: read no member beyond struct_size. Text is UTF-8, ends with a null character, and belongs to the
 * caller; it is valid during the call. */
#ifndef TORCHERE_LOWERING_H
#define TORCHERE_LOWERING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of an op in the program that is exported. */
typedef struct torchere_lowering_call {
  size_t struct_size;
  const char *op;              /* "mylib.op.default" */
  const char *const *operands; /* the types of its tensors, as StableHLO writes them: "tensor<?x4xf32>" */
  size_t operand_count;
  const char *const *results; /* the types of its results */
  size_t result_count;
  const char *arguments; /* a JSON object of the arguments that are not tensors, by name, if not omitted */
} torchere_lowering_call;

/* What a lowering answers, once: the text, or an error. Both are copied. */
typedef struct torchere_lowering_reply {
  size_t struct_size;
  void *context; /* to be passed on */
  /* A function or a module in StableHLO, in MLIR's textual form. Its function (@main, if there are several)
   * takes the operands and returns the results. */
  void (*text)(void *context, const char *text);
  void (*error)(void *context, const char *message);
} torchere_lowering_reply;

/* Called on the thread that exports; several threads may export. Must not throw. */
typedef void (*torchere_lowering_function)(const torchere_lowering_call *call,
                                           const torchere_lowering_reply *reply, void *user_data);

typedef struct torchere_lowering_registry {
  size_t struct_size;
  void *context; /* to be passed on */
  /* Registers the lowering of the op with this schema, "mylib::op(Tensor x, int n) -> Tensor". Returns 0, or
   * another number for an error, which load_lowerings() reports whatever the library returns. */
  int (*add)(void *context, const char *schema, torchere_lowering_function lower, void *user_data);
} torchere_lowering_registry;

/* Exported by the library, and called when it is loaded. Returns 0, or another number for an error. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
int torchere_register_lowerings(const torchere_lowering_registry *registry);

#ifdef __cplusplus
}
#endif

#endif
