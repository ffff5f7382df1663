/* torchere.h: saved programs, called from C. docs/cpp.md is the guide; torchere.hpp wraps it for C++20.
 *
 * Errors. A function returns TORCHERE_OK or a code, and then torchere_error_message() says what is wrong. A
 * function that fails leaves its out-parameters alone, unless it says otherwise.
 *
 * Handles. What a `_create`, `_load`, `_call` and the like returns is the caller's, who destroys it once. A
 * handle that is null, of another kind, or destroyed already is an error, TORCHERE_INVALID_ARGUMENT, in every
 * function. Handles own what they need, so they may be destroyed in any order: a result outlives its program.
 * Nothing has to be destroyed before the process ends.
 *
 * Structures. `struct_size` is the sizeof of the structure, set by the caller also where the function fills
 * the rest. Members that are not set must be zero. A size that this library does not know is an error.
 *
 * Memory. What a function is given is read only during the call. Strings and arrays in structures that are
 * filled belong to the handle that was asked, and live as long as it.
 *
 * Threads. Every function may be called from any thread at any time, with handles that other threads use as
 * well. Calls of one program run at once, but those that write its state take turns. A handle that one thread
 * destroys while another is in a function with it stays usable there. After fork() the child must not call
 * programs and clients of the parent: that is an error, TORCHERE_FAILED_PRECONDITION.
 */
#ifndef TORCHERE_TORCHERE_H
#define TORCHERE_TORCHERE_H

#include <stddef.h>
#include <stdint.h>

#define TORCHERE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors and versions ------------------------------------------------------------------------------ */

typedef int32_t torchere_status;
enum {
  TORCHERE_OK = 0,
  TORCHERE_CANCELLED = 1,
  TORCHERE_UNKNOWN = 2,
  TORCHERE_INVALID_ARGUMENT = 3,
  TORCHERE_DEADLINE_EXCEEDED = 4,
  TORCHERE_NOT_FOUND = 5,
  TORCHERE_ALREADY_EXISTS = 6,
  TORCHERE_PERMISSION_DENIED = 7,
  TORCHERE_RESOURCE_EXHAUSTED = 8,
  TORCHERE_FAILED_PRECONDITION = 9,
  TORCHERE_ABORTED = 10,
  TORCHERE_OUT_OF_RANGE = 11,
  TORCHERE_UNIMPLEMENTED = 12,
  TORCHERE_INTERNAL = 13,
  TORCHERE_UNAVAILABLE = 14,
  TORCHERE_DATA_LOSS = 15,
  TORCHERE_UNAUTHENTICATED = 16
};

/* The message of the last function that failed in this thread: "[x] wrong dtype: got float64, expected
 * float32". Empty if none has failed. Valid until the next one fails in this thread. */
TORCHERE_API const char *torchere_error_message(void);
/* "INVALID_ARGUMENT"; "UNKNOWN" for a number that is no code. */
TORCHERE_API const char *torchere_status_name(torchere_status status);
/* The release, "0.1.0". Within one symbol version (TORCHERE_1) functions and structures only grow. */
TORCHERE_API const char *torchere_version(void);

/* ---- Element types ------------------------------------------------------------------------------------ */

typedef int32_t torchere_dtype;
enum {
  TORCHERE_BOOL = 1,
  TORCHERE_INT8 = 2,
  TORCHERE_INT16 = 3,
  TORCHERE_INT32 = 4,
  TORCHERE_INT64 = 5,
  TORCHERE_UINT8 = 6,
  TORCHERE_UINT16 = 7,
  TORCHERE_UINT32 = 8,
  TORCHERE_UINT64 = 9,
  TORCHERE_FLOAT16 = 10,
  TORCHERE_BFLOAT16 = 11,
  TORCHERE_FLOAT32 = 12,
  TORCHERE_FLOAT64 = 13,
  TORCHERE_COMPLEX32 = 14,
  TORCHERE_COMPLEX64 = 15,
  TORCHERE_COMPLEX128 = 16,
  TORCHERE_FLOAT8_E4M3FN = 17,
  TORCHERE_FLOAT8_E4M3FNUZ = 18,
  TORCHERE_FLOAT8_E5M2 = 19,
  TORCHERE_FLOAT8_E5M2FNUZ = 20,
  TORCHERE_FLOAT8_E8M0FNU = 21
};

/* Bytes an element; 0 for a number that is no dtype. */
TORCHERE_API size_t torchere_dtype_size(torchere_dtype dtype);
/* torch's name, "float32"; "" for a number that is no dtype. */
TORCHERE_API const char *torchere_dtype_name(torchere_dtype dtype);

/* ---- Plugins, clients, devices ------------------------------------------------------------------------ */

typedef struct torchere_plugins_s *torchere_plugins; /* a list of plugins that could be loaded */
typedef struct torchere_client_s *torchere_client;   /* a loaded plugin's devices */

typedef struct torchere_plugin_info {
  size_t struct_size;
  const char *name;   /* "cpu", "cuda" */
  const char *path;   /* of the shared library */
  const char *origin; /* where it was found: "installed", "built in", "PJRT_NAMES_AND_LIBRARY_PATHS" */
} torchere_plugin_info;

/* What torchere_client_create() finds by name, the preferred one of a name first. */
TORCHERE_API torchere_status torchere_plugins_create(torchere_plugins *plugins);
TORCHERE_API torchere_status torchere_plugins_count(torchere_plugins plugins, size_t *count);
TORCHERE_API torchere_status torchere_plugins_get(torchere_plugins plugins, size_t index,
                                                  torchere_plugin_info *info);
TORCHERE_API torchere_status torchere_plugins_destroy(torchere_plugins plugins);

/* The kinds of values: options of plugins, inputs and outputs of calls. */
typedef int32_t torchere_kind;
enum {
  TORCHERE_KIND_DEFAULT = 0, /* of an input: the constant that the program was exported with */
  TORCHERE_KIND_TENSOR = 1,  /* in host memory */
  TORCHERE_KIND_ARRAY = 2,   /* on the device */
  TORCHERE_KIND_INT = 3,
  TORCHERE_KIND_FLOAT = 4,
  TORCHERE_KIND_BOOL = 5,
  TORCHERE_KIND_STRING = 6,
  TORCHERE_KIND_NONE = 7,
  TORCHERE_KIND_OTHER = 8 /* a constant that only has a text: a list, a dtype, a complex number */
};

typedef struct torchere_option {
  size_t struct_size;
  const char *name;
  torchere_kind kind; /* INT, FLOAT, BOOL or STRING */
  int64_t integer;    /* of an INT; 0 or 1 of a BOOL */
  double number;
  const char *string;
} torchere_option;

/* Executables on disk, by which other processes need not compile again (docs/cache.md). */
enum {
  TORCHERE_CACHE_ENVIRONMENT = 0, /* as TORCHERE_CACHE and TORCHERE_CACHE_DIR say; on if they are not set */
  TORCHERE_CACHE_OFF = 1,
  TORCHERE_CACHE_ON = 2 /* with the folder and the limit below */
};

typedef struct torchere_client_options {
  size_t struct_size;
  const char *plugin; /* name or path of a library; null: the variable PJRT_DEVICE, else "torchere_cpu" */
  const torchere_option *options; /* the plugin's own, such as the engine's "device_count" */
  size_t option_count;
  int32_t cache;               /* TORCHERE_CACHE_... */
  const char *cache_directory; /* null: as the environment says */
  uint64_t cache_limit;        /* bytes; 0: as the environment says */
} torchere_client_options;

/* `options` may be null. Equal options give one client, which is kept until the process ends. */
TORCHERE_API torchere_status torchere_client_create(const torchere_client_options *options,
                                                    torchere_client *client);
TORCHERE_API torchere_status torchere_client_destroy(torchere_client client);

typedef struct torchere_client_info {
  size_t struct_size;
  const char *platform;         /* "torchere_cpu" */
  const char *platform_version; /* the plugin's text */
  const char *plugin_path;
  size_t device_count;
  int64_t compiled; /* programs that the plugin compiled, for all users of the client */
  int64_t loaded;   /* executables from the cache on disk */
  int64_t reused;   /* executables that were in use already */
} torchere_client_info;

typedef struct torchere_device_info {
  size_t struct_size;
  int32_t id;
  const char *kind; /* "cpu", "NVIDIA H200" */
  const char *description;
} torchere_device_info;

TORCHERE_API torchere_status torchere_client_get_info(torchere_client client, torchere_client_info *info);
TORCHERE_API torchere_status torchere_client_get_device(torchere_client client, size_t index,
                                                        torchere_device_info *info);

/* ---- Programs ----------------------------------------------------------------------------------------- */

typedef struct torchere_program_s *torchere_program; /* a saved program on a device, with its state */

/* A tensor in the caller's memory. */
typedef struct torchere_tensor {
  size_t struct_size;
  const char *name; /* where tensors are given by name; else ignored */
  torchere_dtype dtype;
  const void *data; /* the first element; may be null if there are no elements */
  size_t byte_size; /* how much memory there is: too little for the dimensions is an error */
  size_t rank;
  const int64_t *dims;
  const int64_t *strides; /* in elements, not negative; null: dense and row major */
} torchere_tensor;

typedef struct torchere_load_options {
  size_t struct_size;
  torchere_client client; /* null: that of torchere_client_create(null) */
  int32_t has_device;     /* 0: the client's first device */
  int32_t device;         /* the id of a device of the client */
  int32_t verify;         /* 1: read all files and compare them with the digests saved with the program */
  const torchere_tensor *weights; /* other values for parameters, buffers, constants; copied */
  size_t weight_count;
  const char *precision; /* of products: "default", "high" or "highest"; null: as the program has it */
} torchere_load_options;

/* Loads what torchere.export(...).save(path) wrote. Weights are mapped, nothing is compiled. `options` may be
 * null. */
TORCHERE_API torchere_status torchere_program_load(const char *path, const torchere_load_options *options,
                                                   torchere_program *program);
/* The same program with a state of its own, which begins with the present one. Weights and executables are
 * shared. */
TORCHERE_API torchere_status torchere_program_clone(torchere_program program, torchere_program *clone);
TORCHERE_API torchere_status torchere_program_destroy(torchere_program program);
/* The client, as a handle of its own, and the device on which the program runs. */
TORCHERE_API torchere_status torchere_program_get_client(torchere_program program, torchere_client *client);
TORCHERE_API torchere_status torchere_program_get_device(torchere_program program,
                                                         torchere_device_info *info);

/* ---- Entry points: the functions of a program --------------------------------------------------------- */

typedef struct torchere_function_info {
  size_t struct_size;
  const char *name;
  size_t input_count;   /* what the user passes: tensors, ints, constants */
  size_t output_count;  /* what the user gets */
  size_t mutated_count; /* inputs that the function gives a new value */
  int64_t calls;        /* calls that passed the checks */
  int64_t refinements;  /* of a program with dynamic sizes, to the sizes of a call */
  int64_t preparations; /* executables made, or found by the client */
} torchere_function_info;

/* One at least; function 0 is the default. */
TORCHERE_API torchere_status torchere_program_function_count(torchere_program program, size_t *count);
TORCHERE_API torchere_status torchere_program_find_function(torchere_program program, const char *name,
                                                            size_t *function);
TORCHERE_API torchere_status torchere_program_get_function(torchere_program program, size_t function,
                                                           torchere_function_info *info);

/* A size in `dims` that calls may choose. */
#define TORCHERE_DYNAMIC ((int64_t)-1)

/* An input or output of a function; a state or weight of a program; an output of a call. */
typedef struct torchere_value_info {
  size_t struct_size;
  const char *name;
  torchere_kind kind;  /* TENSOR; INT, FLOAT, BOOL: a number, in a call a tensor without dimensions */
  int32_t is_constant; /* the value is known, in the members below; a call may leave a constant input out */
  torchere_dtype dtype;
  size_t rank;
  const int64_t *dims;          /* TORCHERE_DYNAMIC where a call chooses */
  const char *const *dim_names; /* "batch", "2*batch + 1"; null where the size is known */
  const int64_t *dim_minimums;  /* the least size, and the largest; of an INT input its least value */
  const int64_t *dim_maximums;
  int64_t integer;    /* of a constant INT or BOOL */
  double number;      /* of a constant FLOAT */
  const char *string; /* of a constant STRING; the text of an OTHER, as Python writes it */
} torchere_value_info;

TORCHERE_API torchere_status torchere_program_get_input(torchere_program program, size_t function,
                                                        size_t index, torchere_value_info *info);
TORCHERE_API torchere_status torchere_program_get_output(torchere_program program, size_t function,
                                                         size_t index, torchere_value_info *info);
TORCHERE_API torchere_status torchere_program_find_input(torchere_program program, size_t function,
                                                         const char *name, size_t *index);
TORCHERE_API torchere_status torchere_program_find_output(torchere_program program, size_t function,
                                                          const char *name, size_t *index);

/* ---- Calls -------------------------------------------------------------------------------------------- */

typedef struct torchere_array_s *torchere_array;   /* an array on the device */
typedef struct torchere_result_s *torchere_result; /* the outputs of a call */

typedef struct torchere_input {
  size_t struct_size;
  const char *name; /* null: the input with the same place as in the list */
  torchere_kind kind;
  torchere_tensor tensor; /* of a TENSOR */
  torchere_array array;   /* of an ARRAY, made on the same client and device */
  int64_t integer;        /* of an INT; 0 or 1 of a BOOL */
  double number;          /* of a FLOAT */
  const char *string;     /* of a STRING */
} torchere_input;

/* Calls a function and waits. Inputs that are constants may be left out. A call that fails leaves the state
 * as it was; if the plugin had begun to overwrite it, the state is lost, and calls say so until it is set. */
TORCHERE_API torchere_status torchere_call(torchere_program program, size_t function,
                                           const torchere_input *inputs, size_t input_count,
                                           torchere_result *result);

/* Returns before the outputs are computed; they stay on the device. The inputs' memory is free again. State
 * advances at once. An execution that fails reports its error wherever an output is awaited or read, and
 * loses the state that it writes. */
TORCHERE_API torchere_status torchere_call_async(torchere_program program, size_t function,
                                                 const torchere_input *inputs, size_t input_count,
                                                 torchere_result *result);

/* Where an output goes. */
typedef struct torchere_destination {
  size_t struct_size;
  const char *name; /* null: the output with the same place as in the list */
  void *data;
  size_t byte_size; /* how much memory there is */
  size_t needed;    /* set: bytes of the output, also when byte_size is too small */
} torchere_destination;

/* Calls a function, waits, and writes outputs into the caller's memory, dense and row major. Memory that is
 * too short is an error, TORCHERE_OUT_OF_RANGE, found before the call runs wherever sizes follow from the
 * inputs' (they nearly always do); nothing is written then. Outputs without a destination are dropped. */
TORCHERE_API torchere_status torchere_call_into(torchere_program program, size_t function,
                                                const torchere_input *inputs, size_t input_count,
                                                torchere_destination *outputs, size_t output_count);

/* A result has the function's outputs, in order, and after them the new values of inputs that the function
 * mutates, under the inputs' names: output_count + mutated_count values. */
TORCHERE_API torchere_status torchere_result_count(torchere_result result, size_t *count);
TORCHERE_API torchere_status torchere_result_find(torchere_result result, const char *name, size_t *index);
/* At once, with the sizes that the call has. */
TORCHERE_API torchere_status torchere_result_get(torchere_result result, size_t index,
                                                 torchere_value_info *info);
/* Waits. The elements, dense and row major, in memory that lives as long as the result. A constant has none.
 */
TORCHERE_API torchere_status torchere_result_data(torchere_result result, size_t index, const void **data,
                                                  size_t *byte_size);
/* Waits, and copies. Less memory than the output needs is an error, TORCHERE_OUT_OF_RANGE. */
TORCHERE_API torchere_status torchere_result_read(torchere_result result, size_t index, void *data,
                                                  size_t byte_size);
/* An output of an asynchronous call, to be the input of other calls. Does not wait. */
TORCHERE_API torchere_status torchere_result_array(torchere_result result, size_t index,
                                                   torchere_array *array);
/* Waits for the end; the execution's error if it failed. */
TORCHERE_API torchere_status torchere_result_wait(torchere_result result);
/* 1 if the outputs are computed, or have failed. */
TORCHERE_API torchere_status torchere_result_is_ready(torchere_result result, int32_t *is_ready);

/* `status` and `message` are the execution's; the message lives during the callback. */
typedef void (*torchere_callback)(void *user_data, torchere_status status, const char *message);
/* Calls back once, when the outputs are computed or have failed: on a thread of the plugin, or in this
 * function if that is so already. The callback must be quick, must not throw, and must not call programs or
 * wait; it may destroy results and arrays. A result that is destroyed still calls back. */
TORCHERE_API torchere_status torchere_result_on_ready(torchere_result result, torchere_callback callback,
                                                      void *user_data);
TORCHERE_API torchere_status torchere_result_destroy(torchere_result result);

/* A copy of a tensor on the program's device. */
TORCHERE_API torchere_status torchere_array_create(torchere_program program, const torchere_tensor *tensor,
                                                   torchere_array *array);
TORCHERE_API torchere_status torchere_array_get(torchere_array array, torchere_value_info *info);
/* As those of results. */
TORCHERE_API torchere_status torchere_array_wait(torchere_array array);
TORCHERE_API torchere_status torchere_array_is_ready(torchere_array array, int32_t *is_ready);
TORCHERE_API torchere_status torchere_array_data(torchere_array array, const void **data, size_t *byte_size);
TORCHERE_API torchere_status torchere_array_read(torchere_array array, void *data, size_t byte_size);
TORCHERE_API torchere_status torchere_array_destroy(torchere_array array);

/* ---- Weights and state -------------------------------------------------------------------------------- */

typedef struct torchere_snapshot_s *torchere_snapshot; /* all states of a program at one time */

/* What functions write, sorted by name, without the random numbers. */
TORCHERE_API torchere_status torchere_program_state_count(torchere_program program, size_t *count);
TORCHERE_API torchere_status torchere_program_get_state(torchere_program program, size_t index,
                                                        torchere_value_info *info);
/* Copies the present value of a state, parameter or buffer, as it is between two calls. */
TORCHERE_API torchere_status torchere_program_read(torchere_program program, const char *name, void *data,
                                                   size_t byte_size);
/* Sets states to copies of the tensors, by name: all of them, between two calls, or none. */
TORCHERE_API torchere_status torchere_program_write(torchere_program program, const torchere_tensor *states,
                                                    size_t state_count);
/* All states, random numbers included. Later calls do not change the snapshot. Where the host reads the
 * device's memory nothing is copied until a call writes. */
TORCHERE_API torchere_status torchere_program_snapshot(torchere_program program, torchere_snapshot *snapshot);
/* Goes back to a snapshot, of this program or of another one with the same states. */
TORCHERE_API torchere_status torchere_program_restore(torchere_program program, torchere_snapshot snapshot);
TORCHERE_API torchere_status torchere_snapshot_destroy(torchere_snapshot snapshot);
/* The states and the random numbers as they were when the program was loaded. */
TORCHERE_API torchere_status torchere_program_reset(torchere_program program);
/* Starts the random numbers that the seed gives; nothing to do for a program that draws none. */
TORCHERE_API torchere_status torchere_program_manual_seed(torchere_program program, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif /* TORCHERE_TORCHERE_H */
