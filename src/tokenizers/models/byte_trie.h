// A trie over bytes as a double array (Aoe, "An efficient digital search algorithm by using a double-array structure",
// 1989): a step is one read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// Immutable.
class ByteTrie {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::int32_t kNoValue = -1;

  ByteTrie() : ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>>()) {}
  /// Values are not negative. Empty keys are left out; of equal keys, the one with the highest value remains. Throws
  /// resource_exhausted for keys of more than kMaxKeyBytes together.
  explicit ByteTrie(const std::vector<std::pair<std::string_view, std::int32_t>>& keys);

  /// Moves from a node to its child; false if there is none.
  bool step(std::uint32_t& node, char byte) const {
    const std::uint32_t child = units_[node].base + static_cast<unsigned char>(byte);
    if (units_[child].parent != node) return false;
    node = child;
    return true;
  }
  /// The value of the key that ends at a node, or kNoValue.
  std::int32_t value(std::uint32_t node) const { return units_[node].value; }

  static constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 25;

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;    // as parent: the unit is free
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFE;  // as parent: the unit is the root

  // The child of a node by a byte is at base + byte.
  struct Unit {
    std::uint32_t base = 0;
    std::uint32_t parent = kFree;
    std::int32_t value = kNoValue;
  };

  class Builder;

  std::vector<Unit> units_;
};

}  // namespace alate::tokenizers
