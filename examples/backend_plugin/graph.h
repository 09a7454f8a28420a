/* The graphs that this backend runs, read from Alate's text form: f32 alone, up to eight axes, at most two operands. */
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

/* A dim below 0 is a named one: -1 - its place among the graph's names. */
typedef struct {
  size_t rank;
  int64_t dims[MOST_AXES];
} plain_shape;

/* Numbers of an attribute, such as the axes of a reduction. */
typedef struct {
  size_t count;
  int64_t values[MOST_AXES];
} plain_list;

typedef struct {
  plain_op op;
  size_t index; /* which parameter or constant */
  size_t operands[MOST_OPERANDS];
  plain_list lists[MOST_LISTS]; /* in the order in which the text has them */
  plain_shape shape;
} plain_node;

typedef struct {
  char* name; /* without quotes and escapes */
  size_t node;
} plain_port;

typedef struct {
  char** dim_names;
  plain_node* nodes; /* operands before their users */
  plain_port* inputs;
  plain_port* outputs;
  size_t dim_count, node_count, input_count, output_count;
} plain_graph;

/* Null when the text was read, else why it cannot be run, for ever valid. Give the graph to free_graph either way. */
const char* read_graph(const char* text, size_t bytes, plain_graph* graph);
void free_graph(plain_graph* graph);

/* Writes "f32[tokens,384]" with its end into at most `bytes` of `out`, cut off where it is longer. */
void write_shape(const plain_graph* graph, const plain_shape* shape, char* out, size_t bytes);

#endif
