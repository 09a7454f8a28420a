#include "graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads from `at` to `end`. The first problem is kept, and reading stops there. */
typedef struct {
  const char* at;
  const char* end;
  const char* problem;
} reader;

static const struct {
  const char* name;
  plain_op op;
  size_t operands;
} kOps[] = {
    {"add", OP_ADD, 2},
    {"sub", OP_SUB, 2},
    {"mul", OP_MUL, 2},
    {"div", OP_DIV, 2},
    {"max", OP_MAX, 2},
    {"neg", OP_NEG, 1},
    {"exp", OP_EXP, 1},
    {"tanh", OP_TANH, 1},
    {"reshape", OP_RESHAPE, 1},
    {"broadcast_in_dim", OP_BROADCAST_IN_DIM, 1},
    {"reduce_sum", OP_REDUCE_SUM, 1},
    {"reduce_max", OP_REDUCE_MAX, 1},
    {"dot_general", OP_DOT_GENERAL, 2},
};

static void fail(reader* r, const char* problem) {
  if (r->problem == NULL) r->problem = problem;
  r->at = r->end;
}

static void skip_space(reader* r) {
  while (r->at < r->end && isspace((unsigned char)*r->at)) ++r->at;
}

static int take(reader* r, char mark) {
  skip_space(r);
  if (r->at == r->end || *r->at != mark) return 0;
  ++r->at;
  return 1;
}

static void expect(reader* r, char mark) {
  if (!take(r, mark)) fail(r, "the graph's text is not as it should be");
}

static int continues_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'; }

/* Length of the next word, which is not consumed. */
static size_t word_length(reader* r) {
  const char* end;
  skip_space(r);
  for (end = r->at; end < r->end && continues_word(*end); ++end) {
  }
  return (size_t)(end - r->at);
}

static int take_word(reader* r, const char* word) {
  const size_t length = word_length(r);
  if (length != strlen(word) || memcmp(r->at, word, length) != 0) return 0;
  r->at += length;
  return 1;
}

static int64_t number(reader* r) {
  char digits[24];
  const size_t length = word_length(r);
  if (length == 0 || length >= sizeof digits) return fail(r, "a number is missing"), 0;
  memcpy(digits, r->at, length);
  digits[length] = 0;
  r->at += length;
  return strtoll(digits, NULL, 10);
}

static int digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/* A word or a quoted string. The caller frees it. */
static char* name(reader* r) {
  char* out;
  size_t length = 0;
  if (!take(r, '"')) {
    length = word_length(r);
    if (length == 0) fail(r, "a name is missing");
    out = calloc(length + 1, 1);
    if (out == NULL) return fail(r, "memory ran out"), out;
    memcpy(out, r->at, length);
    r->at += length;
    return out;
  }
  out = calloc((size_t)(r->end - r->at) + 1, 1);
  if (out == NULL) return fail(r, "memory ran out"), out;
  while (r->at < r->end && *r->at != '"') {
    char c = *r->at++;
    if (c == '\\' && r->at < r->end) {
      c = *r->at++;
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'r') c = '\r';
      if (c == 'x' && r->end - r->at >= 2) {
        c = (char)(16 * digit(r->at[0]) + digit(r->at[1]));
        r->at += 2;
      }
    }
    out[length++] = c;
  }
  expect(r, '"');
  return out;
}

/* Grows the array by one zeroed element after its `count`; null if out of memory. */
static void* grow(reader* r, void* array, size_t count, size_t size) {
  char* larger = realloc(array, (count + 1) * size);
  if (larger == NULL) return fail(r, "memory ran out"), NULL;
  memset(larger + count * size, 0, size);
  return larger;
}

static int64_t dim(reader* r, const plain_graph* graph) {
  char* text;
  size_t i;
  skip_space(r);
  if (r->at < r->end && isdigit((unsigned char)*r->at)) return number(r);
  text = name(r);
  for (i = 0; text != NULL && i < graph->dim_count && strcmp(text, graph->dim_names[i]) != 0; ++i) {
  }
  free(text);
  if (i == graph->dim_count) fail(r, "a dim has no name that was declared");
  return -1 - (int64_t)i;
}

static void list(reader* r, const plain_graph* graph, plain_list* out) {
  out->count = 0;
  expect(r, '[');
  while (r->problem == NULL && !take(r, ']')) {
    if (out->count == MOST_AXES) {
      fail(r, "only arrays of up to eight axes");
      return;
    }
    out->values[out->count++] = dim(r, graph);
    take(r, ',');
  }
}

static void shape(reader* r, const plain_graph* graph, plain_shape* out) {
  plain_list dims;
  expect(r, ':');
  if (!take_word(r, "f32")) {
    fail(r, "only f32");
    return;
  }
  list(r, graph, &dims);
  out->rank = dims.count;
  memcpy(out->dims, dims.values, sizeof out->dims);
}

/* Skips the rest of a line. Line breaks in quoted strings are escaped, so they do not end it. */
static void skip_line(reader* r) {
  while (r->at < r->end && *r->at != '\n') ++r->at;
}

static void operation(reader* r, const plain_graph* graph, plain_node* node) {
  size_t i, count = 0, lists = 0;
  for (i = 0; i < sizeof kOps / sizeof kOps[0] && !take_word(r, kOps[i].name); ++i) {
  }
  if (i == sizeof kOps / sizeof kOps[0]) {
    fail(r, "no such op");
    return;
  }
  node->op = kOps[i].op;
  expect(r, '(');
  while (r->problem == NULL && !take(r, ')')) {
    expect(r, '%');
    if (count == kOps[i].operands) {
      fail(r, "too many operands");
      return;
    }
    node->operands[count++] = (size_t)number(r);
    if (node->operands[count - 1] >= graph->node_count) {
      fail(r, "an operand is not there yet");
      return;
    }
    take(r, ',');
  }
  if (count != kOps[i].operands) {
    fail(r, "too few operands");
    return;
  }
  if (take(r, '{')) {
    while (r->problem == NULL && !take(r, '}')) {
      free(name(r));
      expect(r, '=');
      if (lists == MOST_LISTS) {
        fail(r, "too many attributes");
        return;
      }
      list(r, graph, &node->lists[lists++]);
      take(r, ',');
    }
  }
  shape(r, graph, &node->shape);
}

static void read_node(reader* r, plain_graph* graph, const plain_shape* constants, size_t constant_count) {
  plain_node* nodes = grow(r, graph->nodes, graph->node_count, sizeof *nodes);
  plain_node* node;
  if (nodes == NULL) return;
  graph->nodes = nodes;
  node = &nodes[graph->node_count];
  if ((size_t)number(r) != graph->node_count) fail(r, "nodes are not in order");
  expect(r, '=');
  if (take_word(r, "parameter")) {
    plain_port* ports = grow(r, graph->inputs, graph->input_count, sizeof *ports);
    plain_port* port;
    if (ports == NULL) return;
    graph->inputs = ports;
    port = &ports[graph->input_count];
    node->op = OP_PARAMETER;
    node->index = graph->input_count++;
    port->name = name(r);
    port->node = graph->node_count;
    shape(r, graph, &node->shape);
  } else if (take_word(r, "constant")) {
    expect(r, '@');
    node->op = OP_CONSTANT;
    node->index = (size_t)number(r);
    if (node->index >= constant_count) {
      fail(r, "a constant is not there yet");
      return;
    }
    node->shape = constants[node->index];
  } else {
    operation(r, graph, node);
  }
  skip_line(r);
  ++graph->node_count;
}

static void read_constant(reader* r, const plain_graph* graph, plain_shape** constants, size_t* count) {
  plain_shape* larger = grow(r, *constants, *count, sizeof *larger);
  if (larger == NULL) return;
  *constants = larger;
  if ((size_t)number(r) != *count) fail(r, "constants are not in order");
  expect(r, '=');
  free(name(r));
  shape(r, graph, &larger[*count]);
  skip_line(r); /* the elements are also passed by pointer */
  ++*count;
}

static void read_output(reader* r, plain_graph* graph) {
  plain_port* ports = grow(r, graph->outputs, graph->output_count, sizeof *ports);
  plain_port* port;
  if (ports == NULL) return;
  graph->outputs = ports;
  port = &ports[graph->output_count++];
  port->name = name(r);
  expect(r, '=');
  expect(r, '%');
  port->node = (size_t)number(r);
  if (port->node >= graph->node_count) fail(r, "an output is not there");
  skip_line(r);
}

const char* read_graph(const char* text, size_t bytes, plain_graph* graph) {
  reader r;
  plain_shape* constants = NULL;
  size_t constant_count = 0;
  r.at = text;
  r.end = text + bytes;
  r.problem = NULL;
  memset(graph, 0, sizeof *graph);
  if (!take_word(&r, "graph")) fail(&r, "the text is no graph");
  free(name(&r));
  expect(&r, '{');
  while (r.problem == NULL && !take(&r, '}')) {
    if (take_word(&r, "dim")) {
      char** names = grow(&r, graph->dim_names, graph->dim_count, sizeof *names);
      if (names == NULL) break;
      graph->dim_names = names;
      names[graph->dim_count++] = name(&r);
      skip_line(&r);
    } else if (take_word(&r, "output")) {
      read_output(&r, graph);
    } else if (take(&r, '@')) {
      read_constant(&r, graph, &constants, &constant_count);
    } else {
      expect(&r, '%');
      read_node(&r, graph, constants, constant_count);
    }
  }
  free(constants);
  return r.problem;
}

void free_graph(plain_graph* graph) {
  size_t i;
  for (i = 0; i < graph->dim_count; ++i) free(graph->dim_names[i]);
  for (i = 0; i < graph->input_count; ++i) free(graph->inputs[i].name);
  for (i = 0; i < graph->output_count; ++i) free(graph->outputs[i].name);
  free(graph->dim_names);
  free(graph->nodes);
  free(graph->inputs);
  free(graph->outputs);
  memset(graph, 0, sizeof *graph);
}

void write_shape(const plain_graph* graph, const plain_shape* shape, char* out, size_t bytes) {
  size_t at = (size_t)snprintf(out, bytes, "f32[");
  size_t i;
  for (i = 0; i < shape->rank && at < bytes; ++i) {
    const char* comma = i > 0 ? "," : "";
    if (shape->dims[i] >= 0)
      at += (size_t)snprintf(out + at, bytes - at, "%s%lld", comma, (long long)shape->dims[i]);
    else
      at += (size_t)snprintf(out + at, bytes - at, "%s%s", comma, graph->dim_names[-1 - shape->dims[i]]);
  }
  if (at < bytes) snprintf(out + at, bytes - at, "]");
}
