/* The C ABI of backends outside Alate's source tree: a shared library that exports one function.
 *
 * The library is a file called libalate_backend_NAME.so (alate_backend_NAME.dll, libalate_backend_NAME.dylib), in a
 * folder listed in the environment variable ALATE_BACKEND_PATH, or listed there itself. It links nothing of Alate. NAME
 * is the backend's name: up to 32 of a-z, 0-9, '_' and '-', the first one a letter.
 *
 * Rules for both sides:
 * - C99 only. No exception crosses the boundary, and only this header's functions are called.
 * - A struct begins with its size, as its creator knows it. Later versions only add members at the end, so a
 *   reader uses only members within that size, and treats later ones as absent.
 * - Strings are UTF-8 and end with a zero byte. Dtypes are "f32", "i64", "bool" …, shapes "f32[tokens,384]", and graphs
 *   are in Alate's text form, whose grammar is in docs/adding-a-backend.md.
 * - Arguments live until the call returns, unless stated otherwise. Returned data lives until the
 *   calling thread's next call into the library, unless stated otherwise. A loaded library stays until the process
 *   ends.
 * - Every function may be called from any thread, and from several at once, even on the same executable.
 * - A function that can fail returns a status: null on success, otherwise an object that the caller passes to
 *   release_status. The callee checks its arguments; Alate checks every result, and rejects invalid ones.
 */
#ifndef ALATE_BACKEND_ABI_H
#define ALATE_BACKEND_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALATE_BACKEND_ABI_VERSION 1u

/* Codes of a status; any other number is taken as ALATE_INTERNAL. */
#define ALATE_INVALID_ARGUMENT 1
#define ALATE_NOT_FOUND 2
#define ALATE_UNSUPPORTED 3
#define ALATE_RESOURCE_EXHAUSTED 4
#define ALATE_UNAVAILABLE 5
#define ALATE_CANCELLED 6
#define ALATE_INTERNAL 7

/* NOLINTBEGIN(readability-identifier-naming): names as C has them. */

typedef struct alate_status {
  size_t struct_size;
  int32_t code;
  const char* message; /* one line: which input, what is wrong, what to do */
} alate_status;

/* Kinds of devices. */
#define ALATE_PROCESSOR 0
#define ALATE_GPU 1
#define ALATE_ACCELERATOR 2

typedef struct alate_device {
  size_t struct_size;
  const char* name; /* the DEVICE in NAME:DEVICE, same syntax as NAME; several devices may share it */
  int32_t kind;
  const char* description;        /* of the hardware */
  const char* driver;             /* its version; null: there is none */
  const char* compute_capability; /* null: there is none */
  uint64_t total_bytes;           /* of its memory; 0: unknown */
  uint64_t free_bytes;            /* free at the time of the call */
  int32_t unified_memory;         /* 1: host and device share memory */
  const char* unusable;           /* why it cannot be used; null: it can */
  const char* remedy;             /* what to do about that; may be null */
} alate_device;

/* Whether the backend runs one node of a graph natively. Alate makes the struct; the backend fills it. */
typedef struct alate_support {
  size_t struct_size;
  int32_t native;
  const char* spelling; /* of a native op: the backend's name for it, for profiles and tables */
  const char* reason;   /* else: why not */
} alate_support;

typedef struct alate_support_query {
  size_t struct_size;
  const char* op;    /* "dot_general" */
  const char* graph; /* only this op: a parameter for each operand, the node, an output for each result */
  size_t graph_bytes;
  const char* device;
} alate_support_query;

/* A dense row-major array. */
typedef struct alate_array {
  size_t struct_size;
  const char* dtype;
  const int64_t* dims; /* [rank]; may be null for a scalar */
  size_t rank;
  void* data; /* null where bytes is 0 */
  size_t bytes;
  size_t written; /* of an output: the backend sets it to the number of bytes written, which must be `bytes` */
} alate_array;

typedef struct alate_constant {
  size_t struct_size;
  size_t number;            /* N of @N in the text, also for a constant whose elements are inline in the text */
  const char* name;         /* of the weight; not unique */
  const char* identity;     /* 32 hexadecimal digits: equal ones mean equal bytes, in every process */
  const alate_array* array; /* read-only; lives until the executable is released, like the whole struct */
} alate_constant;

typedef struct alate_compile_arguments {
  size_t struct_size;
  const char* graph;
  size_t graph_bytes;
  const alate_constant* const* constants; /* [constant_count], by ascending number */
  size_t constant_count;
  const char* device;              /* a device's name, or its index among the devices in digits; empty: the first */
  size_t max_workers;              /* threads that a run may use */
  const char* cache_folder;        /* for data worth caching on disk; null: cache nothing */
  const char* const* option_names; /* [option_count], runtime options from the model's manifest */
  const char* const* option_values;
  size_t option_count;
} alate_compile_arguments;

/* A compiled graph; opaque, defined by the backend. */
typedef struct alate_executable alate_executable;

/* An input or output of an executable, as the graph has it. */
typedef struct alate_port {
  size_t struct_size;
  const char* name;
  const char* shape; /* as in the text: "f32[tokens,384]" */
} alate_port;

typedef struct alate_run_arguments {
  size_t struct_size;
  const alate_array* const* inputs; /* [input_count], in the graph's order, read-only */
  size_t input_count;
  alate_array* const* outputs; /* [output_count]; allocated by the caller, with static dims; overlaps no input */
  size_t output_count;
  size_t max_workers;
  int32_t (*cancelled)(void* context); /* polled now and then: 1 means stop with ALATE_CANCELLED; null: never */
  void* cancel_context;
} alate_run_arguments;

/* Alate makes the struct, zeroed; the backend fills the members it knows. */
typedef struct alate_facts {
  size_t struct_size;
  uint64_t weight_bytes;  /* held for this executable, besides the constants passed in */
  uint64_t scratch_bytes; /* of the largest run so far */
  uint64_t kernels;       /* kernel calls of one run */
} alate_facts;

/* The backend; lives as long as the process. All functions of version 1 are required. */
typedef struct alate_backend_api {
  size_t struct_size;
  uint32_t abi_version;       /* ALATE_BACKEND_ABI_VERSION of the header it was built with */
  const char* name;           /* the NAME in the library's file name */
  const char* const* aliases; /* [alias_count], same syntax as NAME */
  size_t alias_count;
  const char* description; /* one sentence */
  const char* version;     /* of the runtime: "Plain 1.0" */

  void (*release_status)(alate_status* status);

  /* Calls visit for each device, usable or not, in order. */
  alate_status* (*visit_devices)(void (*visit)(void* context, const alate_device* device), void* context);

  /* Whether the backend runs the node. Alate decomposes a fused op that it does not run into simpler ones, and asks
   * about those; an op that still cannot run is an error that names the op and dtype. */
  alate_status* (*supports)(const alate_support_query* query, alate_support* answer);

  /* Compiles a graph whose ops `supports` accepted. */
  alate_status* (*compile)(const alate_compile_arguments* arguments, alate_executable** executable);
  void (*release_executable)(alate_executable* executable);

  /* Calls visit for each input (is_output 0) and then each output, in the graph's order. */
  alate_status* (*visit_ports)(alate_executable* executable,
                               void (*visit)(void* context, int32_t is_output, const alate_port* port), void* context);

  /* Runs once, synchronously: the outputs are written when it returns. */
  alate_status* (*run)(alate_executable* executable, const alate_run_arguments* arguments);

  alate_status* (*facts)(alate_executable* executable, alate_facts* facts);
} alate_backend_api;

/* The library's exported function, "alate_backend_get_api". Returns null for an unsupported version. */
typedef const alate_backend_api* (*alate_backend_get_api_function)(uint32_t abi_version);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
