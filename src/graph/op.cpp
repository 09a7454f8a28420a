#include "graph/op.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "alate/error.h"

namespace alate::graph {
namespace {

struct Arity {
  std::uint32_t low, high;
};
constexpr Arity exactly(std::uint32_t count) { return {count, count}; }
constexpr Arity between(std::uint32_t low, std::uint32_t high) { return {low, high}; }
constexpr Arity any() { return {0, std::numeric_limits<std::uint32_t>::max()}; }

template <typename Attribute, std::size_t I = 0>
constexpr std::size_t index_in_variant() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, AnyAttributes>, Attribute>) {
    return I;
  } else {
    return index_in_variant<Attribute, I + 1>();
  }
}

#define ALATE_ROW(kind, name, arity, attributes, dtypes, traits, sentence)                          \
  OpInfo{Op::name, #name,  OpKind::kind, (arity).low, (arity).high, index_in_variant<attributes>(), \
         dtypes,   traits, sentence},

constexpr OpInfo kOps[] = {
#define ALATE_LEAF_OP(name, arity, attributes, rule, dtypes, traits, sentence) \
  ALATE_ROW(leaf, name, arity, attributes, dtypes, traits, sentence)
#define ALATE_OP(name, arity, attributes, rule, dtypes, traits, sentence) \
  ALATE_ROW(standard, name, arity, attributes, dtypes, traits, sentence)
#define ALATE_MULTI_OP ALATE_OP
#define ALATE_REGION_OP(name, arity, attributes, rule, dtypes, traits, sentence) \
  ALATE_ROW(region, name, arity, attributes, dtypes, traits, sentence)
#define ALATE_FUSED_OP(name, arity, attributes, rule, dtypes, traits, sentence) \
  ALATE_ROW(fused, name, arity, attributes, dtypes, traits, sentence)
#define ALATE_MULTI_FUSED_OP ALATE_FUSED_OP
#include "graph/ops.def"
};
#undef ALATE_ROW

}  // namespace

const OpInfo& op_info(Op op) {
  const auto index = static_cast<std::size_t>(op);
  if (index >= std::size(kOps)) throw make_error(ErrorCode::internal, "op number ", index, " is not in the op table");
  return kOps[index];
}

std::span<const OpInfo> all_ops() { return kOps; }

std::optional<Op> parse_op(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kOps), std::end(kOps), [&](const OpInfo& row) { return row.name == name; });
  if (found == std::end(kOps)) return std::nullopt;
  return found->op;
}

std::string_view to_string(Activation activation) {
  static constexpr std::array<std::string_view, 8> kNames = {"none", "relu", "gelu_erf", "gelu_tanh",
                                                             "silu", "tanh", "sigmoid",  "quick_gelu"};
  return kNames.at(static_cast<std::size_t>(activation));
}

std::string_view to_string(PoolMode mode) {
  static constexpr std::array<std::string_view, 6> kNames = {"mean", "cls",           "max",
                                                             "last", "mean_sqrt_len", "weighted_mean"};
  return kNames.at(static_cast<std::size_t>(mode));
}

std::string_view to_string(Reduction reduction) {
  static constexpr std::array<std::string_view, 10> kNames = {"sum",         "product",    "max",         "min",
                                                              "logical_and", "logical_or", "logical_xor", "bitwise_and",
                                                              "bitwise_or",  "bitwise_xor"};
  return kNames.at(static_cast<std::size_t>(reduction));
}

std::string_view to_string(FftKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"fft", "ifft", "rfft", "irfft"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(RngAlgorithm algorithm) {
  static constexpr std::array<std::string_view, 2> kNames = {"threefry", "philox"};
  return kNames.at(static_cast<std::size_t>(algorithm));
}

}  // namespace alate::graph
