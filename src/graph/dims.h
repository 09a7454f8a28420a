// Dimensions of a graph that are not numbers, and their values in a run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/threads/shared_mutex.h"
#include "graph/dim_form.h"

namespace alate::graph {

struct NamedDim {
  std::string name;
  std::int64_t min = 0;
  std::optional<std::int64_t> max;
  bool paddable = false;  // extra entries change no other result, so a backend may round the extent up
  friend bool operator==(const NamedDim&, const NamedDim&) = default;
};

/// What an id of a `DimTable` stands for. All but sums are atoms: they may be terms of forms.
struct DimEntry {
  enum class Kind { name, sum, quotient, product, smaller, larger };
  Kind kind = Kind::name;
  NamedDim name;             // of a name
  DimForm first, second;     // the sum; the dividend; what is multiplied or compared
  std::int64_t divisor = 1;  // of a quotient, which is rounded down
  Interval bounds;           // by the bounds of the names
  std::size_t leaves = 1;    // the names and numbers in it when it is written out
};

/// Gives ids to names, and to forms over them (`decisions/sizes.md`). Equal forms have equal ids, so that dims are
/// equal where this is proved. Grows while a graph is built, then is shared by the graph, its regions and the graphs
/// that passes make of it, which may add forms to it; what an id stands for never changes. Thread-safe.
///
/// Methods that make forms throw resource_exhausted where a number overflows 64 bits or a form is too long.
class DimTable {
 public:
  /// The dim of this name, created with these bounds if it is new. Throws invalid_argument if it exists with other
  /// bounds.
  Dim named(std::string_view name, std::int64_t min = 0, std::optional<std::int64_t> max = {}, bool paddable = false);
  std::optional<Dim> find(std::string_view name) const;
  /// The ids of the names, in the order in which they were created.
  std::vector<DimId> names() const;
  /// Ids are below this.
  std::size_t size() const;
  /// References stay valid as long as the table.
  const DimEntry& entry(DimId id) const;
  /// All of them, by id.
  std::vector<const DimEntry*> entries() const;
  /// The name behind an id of a name.
  const NamedDim& operator[](DimId id) const { return entry(id).name; }

  /// An extent as a form, and the extent that is equal to a form: a number or an id. Throws invalid_argument if the
  /// form is a negative number.
  DimForm form(Dim dim) const;
  Dim of(const DimForm& form);
  /// Quotients of a positive number, rounded down or up.
  DimForm quotient(const DimForm& of, std::int64_t by);
  DimForm quotient_up(const DimForm& of, std::int64_t by);
  DimForm product(const DimForm& a, const DimForm& b);
  DimForm smaller(const DimForm& a, const DimForm& b);
  DimForm larger(const DimForm& a, const DimForm& b);

  /// What the bounds of the names say.
  Interval bounds(const DimForm& form) const;
  /// Whether `a` <= `b` is proved by bounds; false means unknown.
  bool is_at_most(const DimForm& a, const DimForm& b) const;

  std::string to_string(Dim dim) const;  // "2*tokens+(length-1)/2"
  std::string to_string(const DimForm& form) const;
  std::string to_string(const Shape& shape) const;  // "f32[tokens,384]"

 private:
  using Key = std::vector<std::int64_t>;
  DimId interned(DimEntry entry);
  DimForm atom_product(DimId a, DimId b);
  DimForm comparison(DimEntry::Kind kind, const DimForm& a, const DimForm& b, const Interval& bounds);

  mutable base::SharedMutex mutex_;
  std::deque<DimEntry> entries_;
  std::map<std::string, DimId, std::less<>> names_;
  std::map<Key, DimId> forms_;
};

/// Values of a graph's dims in one run. Names are given a value; forms follow from them.
class DimValues {
 public:
  explicit DimValues(const DimTable& table);
  /// Binds every name in `shape` to the extents of `found`, or checks that they agree with earlier bindings. The
  /// extents that are forms are checked as soon as their names have values. Throws invalid_argument naming `what`, both
  /// shapes and the dim.
  void bind(const Shape& shape, const Shape& found, std::string_view what);
  /// `id` is that of a name.
  void set(DimId id, std::int64_t value, std::string_view what);
  bool is_bound(Dim dim) const { return dim.is_number() || values_[static_cast<std::size_t>(dim.id())] != kUnbound; }
  /// Throws invalid_argument when no input gave the dim a value, or if it is negative.
  std::int64_t operator()(Dim dim) const;
  Shape operator()(const Shape& shape) const;
  std::vector<std::int64_t> operator()(std::span<const Dim> dims) const;
  friend bool operator==(const DimValues& a, const DimValues& b) { return a.values_ == b.values_; }
  std::span<const std::int64_t> raw() const { return values_; }

 private:
  struct Expected {
    DimId id;
    std::int64_t extent;
    std::string what;
  };
  static constexpr std::int64_t kUnbound = Interval::kLowest;
  std::optional<std::int64_t> value_of(const DimForm& form) const;
  std::optional<std::int64_t> value_of(const DimEntry& entry) const;
  void compute_forms();

  const DimTable* table_;
  std::vector<const DimEntry*> entries_;  // as they are now: a run asks the table, which has a lock, only once
  std::vector<std::int64_t> values_;      // forms may be negative
  std::vector<DimId> forms_;              // those without a value
  std::vector<Expected> expected_;        // extents of inputs that are forms without a value
};

}  // namespace alate::graph
