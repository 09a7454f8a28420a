// Which pages of a cache sequences have, and what a graph over them is fed with, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "alate/tensor.h"

namespace alate::backends {

/// What write_pages and paged_attention take beside their rows; all i32.
struct PageFeed {
  Tensor slots, positions;                     // [tokens]; -1 and 0 for padding
  Tensor table, starts, lengths, key_lengths;  // [sequences, most pages] and [sequences]
};

/// Gives out pages as sequences grow, so that those of one do not lie side by side.
class PageTables {
 public:
  PageTables(std::size_t sequences, std::int64_t pages, std::int64_t page_rows, std::int64_t most_pages)
      : page_rows_(page_rows), most_pages_(most_pages), lengths_(sequences, 0), pages_(sequences) {
    for (std::int64_t page = 0; page < pages; ++page) free_.push_back(static_cast<std::int32_t>(page));
    std::ranges::sort(free_, {}, [&](std::int32_t page) { return std::pair(page * 5 % 3, page); });
  }

  /// The next counts[i] tokens of each sequence, side by side, then `padding` tokens of none. Unused entries of the
  /// table name no page.
  PageFeed next(const std::vector<std::int64_t>& counts, std::int64_t padding = 0) {
    std::vector<std::int32_t> slots, positions, table, starts, lengths, key_lengths;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      starts.push_back(static_cast<std::int32_t>(slots.size()));
      lengths.push_back(static_cast<std::int32_t>(counts[i]));
      for (std::int64_t n = 0; n < counts[i]; ++n, ++lengths_[i]) {
        if (lengths_[i] % page_rows_ == 0) {
          pages_[i].push_back(free_.back());
          free_.pop_back();
        }
        slots.push_back(static_cast<std::int32_t>(pages_[i].back() * page_rows_ + lengths_[i] % page_rows_));
        positions.push_back(static_cast<std::int32_t>(lengths_[i]));
      }
      key_lengths.push_back(static_cast<std::int32_t>(lengths_[i]));
      table.insert(table.end(), pages_[i].begin(), pages_[i].end());
      table.resize((i + 1) * static_cast<std::size_t>(most_pages_), i % 2 == 0 ? -1 : 1 << 30);
    }
    slots.resize(slots.size() + static_cast<std::size_t>(padding), -1);
    positions.resize(slots.size(), 0);
    const auto vector = [](const std::vector<std::int32_t>& values) {
      return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, std::span(values));
    };
    return {.slots = vector(slots),
            .positions = vector(positions),
            .table = vector(table).reshaped({static_cast<std::int64_t>(counts.size()), most_pages_}),
            .starts = vector(starts),
            .lengths = vector(lengths),
            .key_lengths = vector(key_lengths)};
  }

 private:
  std::int64_t page_rows_, most_pages_;
  std::vector<std::int64_t> lengths_;             // of each sequence, in tokens
  std::vector<std::vector<std::int32_t>> pages_;  // of each sequence
  std::vector<std::int32_t> free_;
};

}  // namespace alate::backends
