// The enum of ops, and the properties of each from the op table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "alate/tensor.h"
#include "graph/attributes.h"

namespace alate::graph {

enum class Op : std::uint16_t {
#define ALATE_LEAF_OP(name, ...) name,
#define ALATE_OP(name, ...) name,
#define ALATE_MULTI_OP(name, ...) name,
#define ALATE_REGION_OP(name, ...) name,
#define ALATE_FUSED_OP(name, ...) name,
#define ALATE_MULTI_FUSED_OP(name, ...) name,
#include "graph/ops.def"
};

enum Traits : std::uint32_t { kNone = 0, kElementwise = 1, kCommutative = 2, kReduction = 4, kData = 8, kIndexed = 16 };

/// Sets of dtypes, one bit per DType below 64.
using DTypeSet = std::uint64_t;
constexpr DTypeSet set_of(DType dtype) { return DTypeSet{1} << static_cast<int>(dtype); }
inline constexpr DTypeSet kBool = set_of(DType::boolean);
inline constexpr DTypeSet kSignedInts =
    set_of(DType::i4) | set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);
inline constexpr DTypeSet kUnsignedInts =
    set_of(DType::u4) | set_of(DType::u8) | set_of(DType::u16) | set_of(DType::u32) | set_of(DType::u64);
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kFloats = set_of(DType::f16) | set_of(DType::bf16) | set_of(DType::f32) | set_of(DType::f64);
inline constexpr DTypeSet kComponents = set_of(DType::f32) | set_of(DType::f64);  // of complex numbers
inline constexpr DTypeSet kComplex = set_of(DType::c64) | set_of(DType::c128);
inline constexpr DTypeSet kNumbers = kInts | kFloats;  // ordered
/// Dtypes that ops compute with.
inline constexpr DTypeSet kAll = kNumbers | kBool | kComplex;
/// Dtypes that are stored, moved and converted, but not computed with.
inline constexpr DTypeSet kStorageOnly =
    set_of(DType::f8e5m2) | set_of(DType::f8e4m3fn) | set_of(DType::f8e4m3b11fnuz) | set_of(DType::f8e5m2fnuz) |
    set_of(DType::f8e4m3fnuz) | set_of(DType::f8e4m3) | set_of(DType::f8e3m4) | set_of(DType::f8e8m0fnu) |
    set_of(DType::f4e2m1fn) | set_of(DType::i1) | set_of(DType::u1) | set_of(DType::i2) | set_of(DType::u2);
/// Storage-only dtypes that a linear quantized encoding holds; as tensor::can_be_linear.
inline constexpr DTypeSet kQuantized = set_of(DType::f8e4m3fn) | set_of(DType::f8e5m2) | set_of(DType::i1) |
                                       set_of(DType::u1) | set_of(DType::i2) | set_of(DType::u2);
inline constexpr DTypeSet kAny = kAll | kStorageOnly;
constexpr bool contains(DTypeSet set, DType dtype) {
  return static_cast<int>(dtype) > 0 && static_cast<int>(dtype) < 64 && (set & set_of(dtype)) != 0;
}

enum class OpKind : std::uint8_t { leaf, standard, region, fused };

struct OpInfo {
  Op op;
  std::string_view name;
  OpKind kind;
  std::uint32_t min_operands, max_operands;
  std::size_t attributes_index;  // which alternative of Attributes the op has
  DTypeSet dtypes;
  std::uint32_t traits;
  std::string_view sentence;

  bool has(Traits trait) const { return (traits & trait) != 0; }
};

const OpInfo& op_info(Op op);
std::span<const OpInfo> all_ops();  // in the table's order
inline std::string_view to_string(Op op) { return op_info(op).name; }
std::optional<Op> parse_op(std::string_view name);

}  // namespace alate::graph
