// Adds random nodes to a graph, each computed as it is added, so that only values with a sound bound are kept.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "tests/conformance/cases/case.h"
#include "tests/conformance/subject.h"

namespace alate::conformance {

class RandomNodes {
 public:
  RandomNodes(std::string name, Random& random);
  /// Of a region: its parameters have the shapes and, at first, the values of another graph's; it gets no others.
  RandomNodes(std::string name, RandomNodes& parent, std::span<const std::size_t> operands);

  /// Adds a node, with what it takes to fit it to what is there; or nothing, where what was chosen does not fit.
  void add();
  /// Nodes that compute.
  std::size_t count() const { return count_; }
  /// With outputs that are chosen among the values.
  Subject finish();

 private:
  struct Known {
    graph::Value value;
    Tracked tracked;
    bool is_used = false;
  };

  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  bool happens(int percent) { return random_() % 100 < static_cast<std::uint64_t>(percent); }

  void add_elementwise();
  void add_case();
  void add_repeated();
  void add_call();
  void add_if();
  void add_while();

  std::size_t fresh(const Case& subject, std::size_t place);
  std::vector<std::size_t> emit(graph::Op op, std::span<const std::size_t> operands,
                                const graph::Attributes& attributes, const std::vector<graph::Region>& regions = {});
  std::size_t adapted(std::size_t known, const Shape& shape);
  std::size_t operand_for(const Case& subject, std::size_t place);
  std::size_t of_shape(const Shape& shape);
  std::vector<std::size_t> region_operands();
  graph::Region region(std::span<const std::size_t> operands, std::span<const Shape> results);
  graph::Region finish_region(std::span<const Shape> results);
  void bind_dims();

  Random& random_;
  bool is_region_ = false;
  graph::Builder b_;
  std::vector<Known> known_;
  std::vector<Tensor> inputs_;
  std::size_t count_ = 0;
};

}  // namespace alate::conformance
