/* A small out-of-tree backend for Alate: CPU, f32, plain loops. It shows everything that include/alate/
 * backend_abi.h requires, and links against nothing of Alate:
 *
 *   cc -std=c99 -O2 -fPIC -shared -I include examples/backend_plugin/plain_backend.c examples/backend_plugin/graph.c \
 *      examples/backend_plugin/loops.c -lm -o libalate_backend_plain.so
 *   ALATE_BACKEND_PATH=. alate backends
 */
#include <stdlib.h>
#include <string.h>

#include "alate/backend_abi.h"
#include "graph.h"
#include "loops.h"

struct alate_executable {
  plain_graph graph;
  const float** constants; /* by index; owned by Alate */
};

/* Statuses -----------------------------------------------------------------------------------------------------------
 */

/* Returned if there is no memory for a status. */
static alate_status kOutOfMemory = {sizeof(alate_status), ALATE_RESOURCE_EXHAUSTED, "memory ran out"};

/* `message` must have static lifetime, as all messages here do. */
static alate_status* status_of(int32_t code, const char* message) {
  alate_status* status = malloc(sizeof *status);
  if (status == NULL) return &kOutOfMemory;
  status->struct_size = sizeof *status;
  status->code = code;
  status->message = message;
  return status;
}

static void release_status(alate_status* status) {
  if (status != &kOutOfMemory) free(status);
}

/* Devices and support ------------------------------------------------------------------------------------------------
 */

static alate_status* visit_devices(void (*visit)(void* context, const alate_device* device), void* context) {
  alate_device device;
  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  device.name = "cpu";
  device.kind = ALATE_PROCESSOR;
  device.description = "one thread of the processor, plain loops";
  device.unified_memory = 1;
  visit(context, &device);
  return NULL;
}

static alate_status* supports(const alate_support_query* query, alate_support* answer) {
  plain_graph graph;
  const char* problem = read_graph(query->graph, query->graph_bytes, &graph);
  free_graph(&graph);
  answer->native = problem == NULL;
  answer->spelling = "plain loop";
  answer->reason = problem;
  return NULL;
}

/* Compiling ----------------------------------------------------------------------------------------------------------
 */

static void release_executable(alate_executable* executable) {
  free_graph(&executable->graph);
  free(executable->constants);
  free(executable);
}

static alate_status* compile(const alate_compile_arguments* arguments, alate_executable** made) {
  alate_executable* executable = calloc(1, sizeof *executable);
  const char* problem;
  size_t i;
  if (strcmp(arguments->device, "") != 0 && strcmp(arguments->device, "cpu") != 0 &&
      strcmp(arguments->device, "0") != 0)
    return free(executable), status_of(ALATE_NOT_FOUND, "the only device is called cpu");
  if (executable == NULL) return &kOutOfMemory;
  problem = read_graph(arguments->graph, arguments->graph_bytes, &executable->graph);
  if (problem == NULL) {
    executable->constants = calloc(arguments->constant_count + 1, sizeof *executable->constants);
    if (executable->constants == NULL) problem = "memory ran out";
  }
  if (problem != NULL) {
    release_executable(executable);
    return status_of(ALATE_UNSUPPORTED, problem);
  }
  for (i = 0; i < arguments->constant_count; ++i) executable->constants[i] = arguments->constants[i]->array->data;
  *made = executable;
  return NULL;
}

static alate_status* visit_ports(alate_executable* executable,
                                 void (*visit)(void* context, int32_t is_output, const alate_port* port),
                                 void* context) {
  const plain_graph* graph = &executable->graph;
  size_t i;
  for (i = 0; i < graph->input_count + graph->output_count; ++i) {
    const int is_output = i >= graph->input_count;
    const plain_port* from = is_output ? &graph->outputs[i - graph->input_count] : &graph->inputs[i];
    char shape[1024];
    alate_port port;
    write_shape(graph, &graph->nodes[from->node].shape, shape, sizeof shape);
    port.struct_size = sizeof port;
    port.name = from->name;
    port.shape = shape;
    visit(context, is_output, &port);
  }
  return NULL;
}

/* Running ------------------------------------------------------------------------------------------------------------
 */

/* State of one run: values of the named dims, and the shape and data of each node. */
typedef struct {
  int64_t* dims;
  plain_shape* shapes;
  const float** values;
  float** owned;
} plain_run;

static void free_run(plain_run* run, size_t nodes) {
  size_t i;
  for (i = 0; run->owned != NULL && i < nodes; ++i) free(run->owned[i]);
  free(run->dims);
  free(run->shapes);
  free((void*)run->values);
  free((void*)run->owned);
}

/* Takes the value of each named dim from the inputs' shapes. */
static void bind_dims(const plain_graph* graph, const alate_run_arguments* arguments, plain_run* run) {
  size_t i, axis;
  for (i = 0; i < graph->input_count; ++i) {
    const plain_shape* shape = &graph->nodes[graph->inputs[i].node].shape;
    for (axis = 0; axis < shape->rank; ++axis) {
      if (shape->dims[axis] < 0) run->dims[-1 - shape->dims[axis]] = arguments->inputs[i]->dims[axis];
    }
  }
}

static const char* run_one(const alate_executable* executable, const alate_run_arguments* arguments, size_t place,
                           plain_run* run) {
  const plain_node* node = &executable->graph.nodes[place];
  const plain_shape* operand_shapes[MOST_OPERANDS];
  const float* operands[MOST_OPERANDS];
  plain_shape* shape = &run->shapes[place];
  size_t i;
  *shape = node->shape;
  for (i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] < 0) shape->dims[i] = run->dims[-1 - shape->dims[i]];
  }
  if (node->op == OP_PARAMETER) return run->values[place] = arguments->inputs[node->index]->data, NULL;
  if (node->op == OP_CONSTANT) return run->values[place] = executable->constants[node->index], NULL;
  for (i = 0; i < MOST_OPERANDS; ++i) {
    operand_shapes[i] = &run->shapes[node->operands[i]];
    operands[i] = run->values[node->operands[i]];
  }
  run->owned[place] = malloc((element_count(shape) + 1) * sizeof(float));
  if (run->owned[place] == NULL) return "memory ran out";
  run->values[place] = run->owned[place];
  return run_node(node, shape, operand_shapes, operands, run->owned[place]);
}

static alate_status* run(alate_executable* executable, const alate_run_arguments* arguments) {
  const plain_graph* graph = &executable->graph;
  const char* problem = NULL;
  int32_t code = ALATE_INTERNAL;
  plain_run state;
  size_t i;
  state.dims = calloc(graph->dim_count + 1, sizeof *state.dims);
  state.shapes = calloc(graph->node_count + 1, sizeof *state.shapes);
  state.values = calloc(graph->node_count + 1, sizeof *state.values);
  state.owned = calloc(graph->node_count + 1, sizeof *state.owned);
  if (state.dims == NULL || state.shapes == NULL || state.values == NULL || state.owned == NULL) {
    free_run(&state, graph->node_count);
    return &kOutOfMemory;
  }
  bind_dims(graph, arguments, &state);
  for (i = 0; i < graph->node_count && problem == NULL; ++i) {
    problem = run_one(executable, arguments, i, &state);
    if (problem == NULL && arguments->cancelled != NULL && arguments->cancelled(arguments->cancel_context)) {
      problem = "the run was cancelled";
      code = ALATE_CANCELLED;
    }
  }
  for (i = 0; i < graph->output_count && problem == NULL; ++i) {
    alate_array* to = arguments->outputs[i];
    if (to->bytes != element_count(&state.shapes[graph->outputs[i].node]) * sizeof(float)) {
      problem = "an output has another size";
    } else {
      if (to->bytes > 0) memcpy(to->data, state.values[graph->outputs[i].node], to->bytes);
      to->written = to->bytes;
    }
  }
  free_run(&state, graph->node_count);
  return problem == NULL ? NULL : status_of(code, problem);
}

static alate_status* facts(alate_executable* executable, alate_facts* out) {
  const plain_graph* graph = &executable->graph;
  size_t i;
  for (i = 0; i < graph->node_count; ++i) out->kernels += graph->nodes[i].op > OP_CONSTANT;
  return NULL;
}

/* The table ----------------------------------------------------------------------------------------------------------
 */

static const char* const kAliases[] = {"loops"};

static const alate_backend_api kApi = {
    sizeof(alate_backend_api),
    ALATE_BACKEND_ABI_VERSION,
    "plain",
    kAliases,
    1,
    "Plain loops in C, as an example of a backend outside of Alate",
    "Plain 1.0",
    release_status,
    visit_devices,
    supports,
    compile,
    release_executable,
    visit_ports,
    run,
    facts,
};

const alate_backend_api* alate_backend_get_api(uint32_t abi_version);

const alate_backend_api* alate_backend_get_api(uint32_t abi_version) {
  return abi_version == ALATE_BACKEND_ABI_VERSION ? &kApi : NULL;
}
