// Pairs of tokens in order of rank, as a file of a BPE model lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"

namespace alate::tokenizers {

/// The texts stand in one block.
class MergeList {
 public:
  /// Throws resource_exhausted if the texts have more than 4 GiB together.
  void add(std::string_view left, std::string_view right) {
    if (text_.size() + left.size() + right.size() > std::numeric_limits<std::uint32_t>::max())
      throw make_error(ErrorCode::resource_exhausted, "the texts of the merges are over 4 GiB");
    text_ += left;
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
    text_ += right;
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  void reserve(std::size_t merges, std::size_t bytes) {
    ends_.reserve(merges * 2);
    text_.reserve(bytes);
  }

  std::size_t size() const { return ends_.size() / 2; }
  std::string_view left(std::size_t rank) const { return part(rank * 2, rank * 2 + 1); }
  std::string_view right(std::size_t rank) const { return part(rank * 2 + 1, rank * 2 + 2); }
  /// Both, one after the other.
  std::string_view joined(std::size_t rank) const { return part(rank * 2, rank * 2 + 2); }

 private:
  std::string_view part(std::size_t first, std::size_t last) const {
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    return std::string_view(text_).substr(begin, ends_[last - 1] - begin);
  }

  std::string text_;
  std::vector<std::uint32_t> ends_;  // of each token
};

}  // namespace alate::tokenizers
