// The cases of every op, made from its row in the op table: one generator for each shape rule.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op.h"
#include "tests/conformance/cases/case.h"

namespace alate::conformance {

using Cases = std::vector<Case>;

/// A request to a generator: cases of one op whose operands have one dtype. `large` is the number of elements of
/// operands that should exceed registers, tiles and the size from which a backend works in parallel.
struct Form {
  const graph::OpInfo& op;
  DType dtype;
  std::int64_t large;

  /// Whether cases are wanted that keep a machine busy, rather than small ones of every kind.
  bool is_for_speed() const { return large > 1000000; }
};

// One generator for each shape rule, in a file cases_FAMILY.cpp; a missing one does not link. Cases that shape
// inference refuses are dropped, so generators need not know the limits of each op.
#define ALATE_LEAF_OP(...)
#define ALATE_OP(name, arity, attributes, rule, ...) Cases rule##_cases(const Form& form);
#define ALATE_MULTI_OP ALATE_OP
#define ALATE_REGION_OP ALATE_OP
#define ALATE_FUSED_OP ALATE_OP
#define ALATE_MULTI_FUSED_OP ALATE_OP
#include "graph/ops.def"

inline constexpr std::int64_t kLarge = 131075;

/// The cases of an op for a dtype of its row, each with `seed`: what the generator gives, and its small cases again
/// with named dims, constants, and operands that are views. Their order is always the same.
Cases cases_of(const graph::OpInfo& op, DType dtype, std::uint64_t seed, std::int64_t large = kLarge);

/// Of all cases that the generator gives for `large`, those that move at least half as many elements as the largest.
Cases large_cases(const graph::OpInfo& op, DType dtype, std::int64_t large);

// For generators.

/// Operands of these dims, all of one dtype and kind of values.
std::vector<Operand> operands_of(DType dtype, const std::vector<graph::Dims>& dims, const ValueKind& values = {});
/// Whether any size of magnitudes and special values makes sense for a dtype: floats and complex numbers.
bool has_specials(DType dtype);

}  // namespace alate::conformance
