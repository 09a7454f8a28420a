// One case of the conformance suite: an op, its operands and attributes, with a text form of it all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "graph/op.h"

namespace alate::conformance {

/// Which values an operand gets (values.h), for example "edges", or "places(5)": a name and, for some, a limit.
struct ValueKind {
  std::string name = "numbers";
  std::int64_t limit = 0;
  bool operator==(const ValueKind&) const = default;
};

/// How an operand reaches the op. A backend may read views in place of copies: the op must not notice.
enum class View : std::uint8_t {
  plain,
  transposed,  // a transpose of a parameter with its axes in reverse order
  strided,     // every second element of a larger parameter
  broadcast,   // a parameter whose first axis has extent 1, repeated
};

struct Operand {
  Shape shape;
  ValueKind values = {};
  bool is_constant = false;  // known when the graph is compiled
  View view = View::plain;
  bool operator==(const Operand&) const = default;
};

/// A named dim has its extent as id: Dim::of_id(5) is the dim "d5", which is 5 in the run.
struct Case {
  graph::Op op = graph::Op::parameter;
  std::vector<Operand> operands = {};
  graph::Attributes attributes = {};
  std::vector<std::string> regions = {};  // names that regions.h knows
  std::uint64_t seed = 1;
  bool operator==(const Case&) const = default;
};

/// `slice(f32[d3,9]:edges, const f32[2]:numbers:transposed) {starts=[0,1], …} regions=add seed=7`
std::string print_case(const Case& subject);
/// The inverse. Throws invalid_argument with what is wrong.
Case parse_case(std::string_view text);

/// The shape with the extents of the run.
Shape shape_at_run(const Shape& shape);
std::int64_t elements_of(const Case& subject);

}  // namespace alate::conformance
