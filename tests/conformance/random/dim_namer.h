// Mapping of cases' named dims, whose ids are their extents, to those of a graph.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <variant>

#include "graph/dims.h"
#include "graph/op.h"

namespace alate::conformance {

// From ids that are extents to ids of the graph's own table.
class DimNamer {
 public:
  explicit DimNamer(std::shared_ptr<graph::DimTable> table) : table_(std::move(table)) {}

  void apply(Dim& dim) {
    if (dim.is_number()) return;
    used_.insert(dim.id());
    dim = table_->named("d" + std::to_string(dim.id()));
  }
  void apply(graph::Dims& dims) {
    for (Dim& dim : dims) apply(dim);
  }
  template <typename Other>
  void apply(Other&) {}
  void apply(graph::Attributes& attributes) {
    std::visit(
        [&]<typename Struct>(Struct& attribute) {
          std::apply([&](const auto&... field) { (apply(attribute.*field.member), ...); }, Struct::fields());
        },
        attributes);
  }
  const std::set<DimId>& used() const { return used_; }

 private:
  std::shared_ptr<graph::DimTable> table_;
  std::set<DimId> used_;
};

}  // namespace alate::conformance
