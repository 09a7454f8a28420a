// Finding the entries of a file by their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace alate::formats {

/// Indices of entries that have a member `name`, sorted by it.
class NameIndex {
 public:
  NameIndex() = default;
  template <typename Entry>
  explicit NameIndex(std::span<const Entry> entries) : order_(entries.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [&](std::uint32_t i) { return std::string_view(entries[i].name); });
  }

  /// `entries` are those of the constructor. Null if none has the name.
  template <typename Entry>
  const Entry* find(std::span<const Entry> entries, std::string_view name) const {
    const auto name_of = [&](std::uint32_t i) { return std::string_view(entries[i].name); };
    const auto found = std::ranges::lower_bound(order_, name, {}, name_of);
    return found == order_.end() || name_of(*found) != name ? nullptr : &entries[*found];
  }

 private:
  std::vector<std::uint32_t> order_;
};

}  // namespace alate::formats
