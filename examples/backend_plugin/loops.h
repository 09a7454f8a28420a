/* The ops as plain f32 loops. */
#ifndef PLAIN_LOOPS_H
#define PLAIN_LOOPS_H

#include "graph.h"

/* Computes a node. All dims must be known numbers. Null on success, else the reason for the failure. */
const char* run_node(const plain_node* node, const plain_shape* shape, const plain_shape* const* operand_shapes,
                     const float* const* operands, float* out);

size_t element_count(const plain_shape* shape);

#endif
