// Places of operands by their roles, for rows of the table of operations.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "backends/cpu/plan/operation.h"
#include "graph/operands.h"

namespace alate::cpu {

template <template <typename> typename Operands, typename Member>
std::optional<std::size_t> place_of_member(const graph::Attributes& attributes, Member Operands<std::size_t>::*member) {
  using Of = typename Operands<std::size_t>::Attributes;
  return graph::places_of<Operands>(std::get<Of>(attributes)).*member;
}

/// A member of the structs of graph/operands.h, such as `&graph::DenseOperands<std::size_t>::weight`.
template <auto kMember>
std::optional<std::size_t> place_of(const graph::Attributes& attributes) {
  return place_of_member(attributes, kMember);
}

/// The formats that an operation reads besides row-major: of the operands at these places.
template <FormatSet kFormats, OperandPlace... kPlaces>
FormatSet formats_of(std::size_t operand, const graph::Attributes& attributes) {
  return ((kPlaces(attributes) == operand) || ...) ? kRowMajor | kFormats : FormatSet{kRowMajor};
}

/// Of an op whose operands do not depend on its attributes.
template <std::size_t kPlace>
std::optional<std::size_t> fixed_place(const graph::Attributes& /*attributes*/) {
  return kPlace;
}

}  // namespace alate::cpu
