#include "loops.h"

#include <math.h>
#include <string.h>

size_t element_count(const plain_shape* shape) {
  size_t i, count = 1;
  for (i = 0; i < shape->rank; ++i) count *= (size_t)shape->dims[i];
  return count;
}

/* Index along each axis of element `flat` of the shape. */
static void place_of(const plain_shape* shape, size_t flat, size_t* place) {
  size_t i;
  for (i = shape->rank; i-- > 0;) {
    const size_t extent = (size_t)shape->dims[i];
    place[i] = flat % extent;
    flat /= extent;
  }
}

static void strides_of(const plain_shape* shape, size_t* strides) {
  size_t i, stride = 1;
  for (i = shape->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= (size_t)shape->dims[i];
  }
}

static float of_two(plain_op op, float a, float b) {
  switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    default: return isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
  }
}

static float of_one(plain_op op, float a) {
  switch (op) {
    case OP_NEG: return -a;
    case OP_EXP: return expf(a);
    default: return tanhf(a);
  }
}

/* lists: the result's dims; the result axis of each operand axis. */
static void broadcast(const plain_node* node, const plain_shape* shape, const plain_shape* from, const float* x,
                      float* out) {
  size_t strides[MOST_AXES], place[MOST_AXES], i, axis;
  const size_t count = element_count(shape);
  strides_of(from, strides);
  for (i = 0; i < count; ++i) {
    size_t at = 0;
    place_of(shape, i, place);
    for (axis = 0; axis < from->rank; ++axis) {
      if (from->dims[axis] != 1) at += strides[axis] * place[node->lists[1].values[axis]];
    }
    out[i] = x[at];
  }
}

/* lists: the reduced axes. */
static void reduce(const plain_node* node, const plain_shape* shape, const plain_shape* from, const float* x,
                   float* out) {
  size_t strides[MOST_AXES], result_strides[MOST_AXES] = {0}, place[MOST_AXES], i, axis, kept = 0;
  const size_t count = element_count(shape), all = element_count(from);
  strides_of(shape, strides);
  for (axis = 0; axis < from->rank; ++axis) {
    size_t k;
    for (k = 0; k < node->lists[0].count && (size_t)node->lists[0].values[k] != axis; ++k) {
    }
    if (k == node->lists[0].count) result_strides[axis] = strides[kept++];
  }
  for (i = 0; i < count; ++i) out[i] = node->op == OP_REDUCE_SUM ? 0 : -INFINITY;
  for (i = 0; i < all; ++i) {
    size_t at = 0;
    place_of(from, i, place);
    for (axis = 0; axis < from->rank; ++axis) at += place[axis] * result_strides[axis];
    out[at] = of_two(node->op == OP_REDUCE_SUM ? OP_ADD : OP_MAX, out[at], x[i]);
  }
}

/* lists: batch axes of both sides, then contracted axes of both. The result has the batch axes, then the remaining
 * axes of the left, then those of the right. */
static void dot(const plain_node* node, const plain_shape* shape, const plain_shape* const* from,
                const float* const* operands, float* out) {
  size_t strides[2][MOST_AXES], result_strides[2][MOST_AXES], place[MOST_AXES], axis = 0, side, i, k;
  const plain_list* contracted = &node->lists[2];
  const size_t count = element_count(shape);
  plain_shape inner;
  memset(result_strides, 0, sizeof result_strides);
  for (side = 0; side < 2; ++side) strides_of(from[side], strides[side]);
  for (; axis < node->lists[0].count; ++axis) {
    for (side = 0; side < 2; ++side) result_strides[side][axis] = strides[side][node->lists[side].values[axis]];
  }
  for (side = 0; side < 2; ++side) {
    for (i = 0; i < from[side]->rank; ++i) {
      int is_free = 1;
      for (k = 0; k < node->lists[side].count; ++k) is_free &= (size_t)node->lists[side].values[k] != i;
      for (k = 0; k < contracted[side].count; ++k) is_free &= (size_t)contracted[side].values[k] != i;
      if (is_free) result_strides[side][axis++] = strides[side][i];
    }
  }
  inner.rank = contracted[0].count;
  for (k = 0; k < inner.rank; ++k) inner.dims[k] = from[0]->dims[contracted[0].values[k]];
  for (i = 0; i < count; ++i) {
    const size_t terms = element_count(&inner);
    size_t begin[2] = {0, 0}, term;
    double sum = 0;
    place_of(shape, i, place);
    for (side = 0; side < 2; ++side) {
      for (axis = 0; axis < shape->rank; ++axis) begin[side] += place[axis] * result_strides[side][axis];
    }
    for (term = 0; term < terms; ++term) {
      size_t at[2] = {begin[0], begin[1]};
      place_of(&inner, term, place);
      for (side = 0; side < 2; ++side) {
        for (k = 0; k < inner.rank; ++k) at[side] += place[k] * strides[side][contracted[side].values[k]];
      }
      sum += (double)operands[0][at[0]] * operands[1][at[1]];
    }
    out[i] = (float)sum;
  }
}

const char* run_node(const plain_node* node, const plain_shape* shape, const plain_shape* const* operand_shapes,
                     const float* const* operands, float* out) {
  const size_t count = element_count(shape);
  size_t i;
  switch (node->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MAX:
      for (i = 0; i < count; ++i) out[i] = of_two(node->op, operands[0][i], operands[1][i]);
      return NULL;
    case OP_NEG:
    case OP_EXP:
    case OP_TANH:
      for (i = 0; i < count; ++i) out[i] = of_one(node->op, operands[0][i]);
      return NULL;
    case OP_RESHAPE:
      if (element_count(operand_shapes[0]) != count) return "a reshape does not keep the number of elements";
      if (count > 0) memcpy(out, operands[0], count * sizeof *out);
      return NULL;
    case OP_BROADCAST_IN_DIM: return broadcast(node, shape, operand_shapes[0], operands[0], out), NULL;
    case OP_REDUCE_SUM:
    case OP_REDUCE_MAX: return reduce(node, shape, operand_shapes[0], operands[0], out), NULL;
    case OP_DOT_GENERAL: return dot(node, shape, operand_shapes, operands, out), NULL;
    default: return "a node is no op";
  }
}
