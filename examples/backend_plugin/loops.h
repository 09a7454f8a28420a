/* The ops, as plain loops over f32. */
#ifndef PLAIN_LOOPS_H
#define PLAIN_LOOPS_H

#include "graph.h"

/* What a node computes: shapes have numbers alone. Null when all went well, else why not. */
const char* run_node(const plain_node* node, const plain_shape* shape, const plain_shape* const* operand_shapes,
                     const float* const* operands, float* out);

size_t element_count(const plain_shape* shape);

#endif
