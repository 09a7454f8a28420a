// Named dimensions of a graph, and their values in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

struct NamedDim {
  std::string name;
  std::int64_t min = 0;
  std::optional<std::int64_t> max;
  bool paddable = false;  // extra entries change no other result, so a backend may round the extent up
  friend bool operator==(const NamedDim&, const NamedDim&) = default;
};

/// Grows while a graph is built, then is shared by the graph and its regions. Ids are indices into the table.
class DimTable {
 public:
  /// The dim of this name, created with these bounds if it is new. Throws invalid_argument if it exists with other
  /// bounds.
  Dim named(std::string_view name, std::int64_t min = 0, std::optional<std::int64_t> max = {}, bool paddable = false);
  std::optional<Dim> find(std::string_view name) const;
  std::size_t size() const { return dims_.size(); }
  const NamedDim& operator[](DimId id) const { return dims_.at(static_cast<std::size_t>(id)); }
  std::string to_string(Dim dim) const;
  std::string to_string(const Shape& shape) const;  // "f32[tokens,384]"
  friend bool operator==(const DimTable&, const DimTable&) = default;

 private:
  std::vector<NamedDim> dims_;
};

/// Values of a graph's named dims in one run.
class DimValues {
 public:
  explicit DimValues(const DimTable& table) : table_(&table), values_(table.size(), kUnbound) {}
  /// Binds every named dim of `shape` to the extents of `found`, or checks that they agree with earlier bindings.
  /// Throws invalid_argument naming `what`, both shapes and the dim.
  void bind(const Shape& shape, const Shape& found, std::string_view what);
  void set(DimId id, std::int64_t value, std::string_view what);
  bool is_bound(Dim dim) const { return dim.is_number() || values_[static_cast<std::size_t>(dim.id())] != kUnbound; }
  /// Throws invalid_argument when no input gave the dim a value.
  std::int64_t operator()(Dim dim) const;
  Shape operator()(const Shape& shape) const;
  std::vector<std::int64_t> operator()(std::span<const Dim> dims) const;
  friend bool operator==(const DimValues& a, const DimValues& b) { return a.values_ == b.values_; }
  std::span<const std::int64_t> raw() const { return values_; }

 private:
  static constexpr std::int64_t kUnbound = -1;
  const DimTable* table_;
  std::vector<std::int64_t> values_;
};

}  // namespace alate::graph
