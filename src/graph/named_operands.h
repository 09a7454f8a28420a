// Structs of named operands (operands.h): conversion from and to lists, by a table of their members.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

namespace alate::graph {

namespace operand_lists {

/// A member that operands have only if `flag` (a bool member, or a function of the attributes) says so.
template <typename Member, typename Flag>
struct Optional {
  Member member;
  Flag flag;
};
template <typename Member, typename Flag>
Optional(Member, Flag) -> Optional<Member, Flag>;

[[noreturn]] void fail_operand_count();

/// Calls `visit` for each member of `Operands::members()`, in the operands' order.
template <typename Operands, typename Visit>
void for_each_member(const Visit& visit) {
  std::apply([&](const auto&... members) { (visit(members), ...); }, Operands::members());
}

/// Operands whose members are, in order, the results of `next`.
template <typename Operands, typename Next>
Operands filled(const typename Operands::Attributes& attributes, const Next& next) {
  Operands operands;
  for_each_member<Operands>([&](const auto& member) {
    if constexpr (requires { member.flag; }) {
      if (std::invoke(member.flag, attributes)) operands.*member.member = next();
    } else {
      operands.*member = next();
    }
  });
  return operands;
}

/// Throws internal unless there are as many as the attributes ask for.
template <typename Operands, typename Operand>
Operands named(const typename Operands::Attributes& attributes, std::span<const Operand> given) {
  std::size_t next = 0;
  Operands operands = filled<Operands>(attributes, [&]() -> const Operand& {
    if (next == given.size()) fail_operand_count();
    return given[next++];
  });
  if (next != given.size()) fail_operand_count();
  return operands;
}

template <typename Operand, typename Operands>
std::vector<Operand> listed(const Operands& operands) {
  std::vector<Operand> list;
  for_each_member<Operands>([&](const auto& member) {
    if constexpr (requires { member.flag; }) {
      if (operands.*member.member) list.push_back(*(operands.*member.member));
    } else {
      list.push_back(operands.*member);
    }
  });
  return list;
}

/// The attributes with the flags of the members that are given.
template <typename Operands>
typename Operands::Attributes flagged(const Operands& operands, typename Operands::Attributes attributes) {
  for_each_member<Operands>([&](const auto& member) {
    if constexpr (requires {
                    { attributes.*member.flag } -> std::same_as<bool&>;
                  })
      attributes.*member.flag = (operands.*member.member).has_value();
  });
  return attributes;
}

}  // namespace operand_lists

/// The place of each operand that the attributes ask for, from 0 on.
template <template <typename> typename Operands>
Operands<std::size_t> places_of(const typename Operands<std::size_t>::Attributes& attributes) {
  std::size_t next = 0;
  return operand_lists::filled<Operands<std::size_t>>(attributes, [&] { return next++; });
}

/// How many operands the attributes ask for.
template <template <typename> typename Operands>
std::size_t operand_count(const typename Operands<std::size_t>::Attributes& attributes) {
  std::size_t count = 0;
  operand_lists::filled<Operands<std::size_t>>(attributes, [&] { return count++; });
  return count;
}

}  // namespace alate::graph
