// Reductions and products that sum.
#include <algorithm>

#include "tests/conformance/cases/cases.h"

namespace alate::conformance {

using graph::Dims;

Cases reduce_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims dims, graph::Numbers axes, const ValueKind& values) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {std::move(dims)}, values),
                     .attributes = graph::Axes{std::move(axes)}});
  };
  add({3, 5}, {1}, {"numbers"});
  add({3, 5}, {0}, {"numbers"});
  add({3, 5}, {0, 1}, {"numbers"});
  add({2, 3, 5, 7}, {1, 3}, {"numbers"});
  add({2, 3, 5, 7}, {2, 0}, {"exact"});
  add({3, 5}, {}, {"numbers"});
  add({}, {}, {"numbers"});
  add({0}, {0}, {"numbers"});
  add({3, 0}, {1}, {"numbers"});
  add({3, 0}, {0}, {"numbers"});
  add({1, 1}, {0}, {"numbers"});
  add({33, 65}, {1}, {"exact"});
  add({65, 33}, {0}, {"exact"});
  add({9, 40}, {1}, {"specials"});
  add({40, 9}, {0}, {"specials"});
  // A long product of anything else would leave the dtype's range on the way, or not, depending on the order.
  const bool is_product = form.op.op == graph::Op::reduce_product;
  add({form.large}, {0}, {is_product ? "signs" : "exact"});
  add({form.large / 1000, 1000}, {1}, {is_product ? "signs" : "numbers"});
  add({1000, form.large / 1000}, {0}, {is_product ? "signs" : "numbers"});
  return cases;
}

Cases dot_general_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims lhs, Dims rhs, const graph::DotGeneral& axes, const ValueKind& values) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {std::move(lhs), std::move(rhs)}, values),
                     .attributes = axes});
  };
  const graph::DotGeneral matmul{{}, {}, {1}, {0}}, batched{{0}, {0}, {2}, {1}};
  add({3, 5}, {5, 7}, matmul, {"numbers"});
  add({2, 3, 5}, {2, 5, 4}, batched, {"numbers"});
  add({3, 5}, {7, 5}, {{}, {}, {1}, {1}}, {"numbers"});
  add({5, 3}, {5, 7}, {{}, {}, {0}, {0}}, {"exact"});
  add({5}, {5}, {{}, {}, {0}, {0}}, {"exact"});
  add({}, {}, {}, {"numbers"});
  add({4}, {3}, {}, {"numbers"});
  add({3, 0}, {0, 7}, matmul, {"numbers"});
  add({0, 5}, {5, 7}, matmul, {"numbers"});
  add({1, 1}, {1, 1}, matmul, {"numbers"});
  add({3, 5}, {5}, {{}, {}, {1}, {0}}, {"numbers"});
  add({2, 3, 4, 5}, {5, 3, 4, 6}, {{1}, {1}, {3, 2}, {0, 2}}, {"exact"});
  add({2, 3, 4}, {4, 2, 3}, {{0, 1}, {1, 2}, {2}, {0}}, {"exact"});
  add({6, 9}, {9, 5}, matmul, {"specials"});
  add({33, 65}, {65, 130}, matmul, {"numbers"});
  add({1, 300}, {300, 65}, matmul, {"numbers"});
  const std::int64_t side = form.is_for_speed() ? 1024 : 97;
  add({side, side}, {side, side}, matmul, {"exact"});
  add({5, 17, 33}, {5, 33, 17}, batched, {"exact"});
  return cases;
}

}  // namespace alate::conformance
