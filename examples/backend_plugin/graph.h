/* Graphs supported by this backend, parsed from Alate's text form: f32 only, up to eight axes and two operands. */
#ifndef PLAIN_GRAPH_H
#define PLAIN_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define MOST_AXES 8
#define MOST_OPERANDS 2
#define MOST_LISTS 4

typedef enum {
  OP_PARAMETER,
  OP_CONSTANT,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_MAX,
  OP_NEG,
  OP_EXP,
  OP_TANH,
  OP_RESHAPE,
  OP_BROADCAST_IN_DIM,
  OP_REDUCE_SUM,
  OP_REDUCE_MAX,
  OP_DOT_GENERAL
} plain_op;

/* A negative dim is a named one: -1 - its index among the graph's names. */
typedef struct {
  size_t rank;
  int64_t dims[MOST_AXES];
} plain_shape;

/* Integer list attribute, such as the axes of a reduction. */
typedef struct {
  size_t count;
  int64_t values[MOST_AXES];
} plain_list;

typedef struct {
  plain_op op;
  size_t index; /* of the parameter or constant */
  size_t operands[MOST_OPERANDS];
  plain_list lists[MOST_LISTS]; /* in the order of the text */
  plain_shape shape;
} plain_node;

typedef struct {
  char* name; /* unquoted and unescaped */
  size_t node;
} plain_port;

typedef struct {
  char** dim_names;
  plain_node* nodes; /* in topological order */
  plain_port* inputs;
  plain_port* outputs;
  size_t dim_count, node_count, input_count, output_count;
} plain_graph;

/* Null on success, else why the graph cannot be run, a static string. Call free_graph in either case. */
const char* read_graph(const char* text, size_t bytes, plain_graph* graph);
void free_graph(plain_graph* graph);

/* Writes "f32[tokens,384]", null-terminated, into at most `bytes` of `out`, truncating it if necessary. */
void write_shape(const plain_graph* graph, const plain_shape* shape, char* out, size_t bytes);

#endif
