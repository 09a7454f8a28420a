// Writer of the lines of a StableHLO function.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "exchange/stablehlo.h"
#include "graph/constant.h"

namespace alate::exchange {

/// A value of the text: its name ("%3", "%3#1") and its static shape.
struct HloValue {
  std::string name;
  Shape shape;
};
using HloValues = std::vector<HloValue>;

/// Ops are written in MLIR's generic form, one per line, in the order of calls. Names are unique in the whole text.
class HloWriter {
 public:
  explicit HloWriter(const StableHloOptions& options) : options_(options) {}

  const StableHloOptions& options() const { return options_; }

  /// An op with one result. `name` is StableHLO's unless it has a dialect prefix with a dot; `attributes` go into
  /// braces.
  HloValue op(std::string_view name, const HloValues& operands, const Shape& result, std::string_view attributes = {});
  /// An op with any number of results, and regions from `region`.
  HloValues ops(std::string_view name, const HloValues& operands, const std::vector<Shape>& results,
                std::string_view attributes = {}, const std::vector<std::string>& regions = {});

  using Body = std::function<HloValues(const HloValues& parameters)>;
  /// The values that a region may read: bodies of reductions and comparators are closed.
  enum class Reads : bool { own_values_only, surrounding_values };
  /// The text of a region that takes values of these shapes and returns the values that `body` returns.
  std::string region(const std::vector<Shape>& parameters, const Body& body, Reads reads = Reads::own_values_only);

  /// Adds `found`, which must equal `wanted`, to the module's results. Only outside of regions.
  void check_extents(const HloValue& found, ExtentCheck wanted);
  bool is_in_region() const { return depth_ > kMainDepth; }

  HloValue constant(const Tensor& tensor);
  /// Inline, or an argument of main where it is large.
  HloValue constant(const graph::ConstantPtr& constant);

  /// A fresh name.
  std::string new_name() { return "%" + std::to_string(next_name_++); }
  /// Writes the last line, which returns the values of a function.
  void finish(const HloValues& results) { write_return("func.return", results); }

  const std::string& text() const { return text_; }
  const HloValues& constant_arguments() const { return constant_arguments_; }
  const std::vector<graph::ConstantPtr>& large_constants() const { return large_constants_; }
  const HloValues& checked_extents() const { return checked_extents_; }
  const std::vector<ExtentCheck>& checks() const { return checks_; }

 private:
  void write_line(const std::string& line);
  void write_return(std::string_view op, const HloValues& results);

  StableHloOptions options_;
  std::string text_;
  static constexpr std::size_t kMainDepth = 2;
  std::size_t depth_ = kMainDepth, next_name_ = 0;
  bool is_closed_ = false;  // inside a region that may not read arguments of main
  std::vector<graph::ConstantPtr> large_constants_;
  HloValues constant_arguments_, checked_extents_;
  std::vector<ExtentCheck> checks_;
  std::map<Fingerprint, std::size_t> places_;  // in both
};

}  // namespace alate::exchange
