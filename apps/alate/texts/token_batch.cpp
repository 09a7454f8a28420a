#include "apps/alate/texts/token_batch.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "alate/error.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 28;

}  // namespace

void TokenBatch::add(const Encoding& encoding) {
  add_row(encoding);
  for (const Encoding& window : encoding.overflowing) add_row(window);
}

void TokenBatch::add_row(const Encoding& encoding) {
  longest_ = std::max(longest_, encoding.ids.size());
  if (longest_ > kMostElements / (ids_.size() + 1))
    throw make_error(ErrorCode::resource_exhausted, "rows of ", longest_, " tokens are too large for one file after ",
                     ids_.size(), " texts; write jsonl, or fewer texts to a file");
  ids_.push_back(encoding.ids);
  types_.push_back(encoding.type_ids);
}

std::vector<formats::NamedTensor> TokenBatch::tensors() const {
  std::vector<std::int64_t> ids(ids_.size() * longest_), mask(ids.size()), types(ids.size());
  for (std::size_t row = 0; row < ids_.size(); ++row) {
    const auto at = static_cast<std::ptrdiff_t>(row * longest_);
    std::ranges::copy(ids_[row], ids.begin() + at);
    std::ranges::copy(types_[row], types.begin() + at);
    std::fill_n(mask.begin() + at, ids_[row].size(), 1);
  }
  const std::vector<std::int64_t> extents = {static_cast<std::int64_t>(ids_.size()),
                                             static_cast<std::int64_t>(longest_)};
  const auto tensor = [&](std::string_view name, std::span<const std::int64_t> values) {
    return formats::NamedTensor{std::string(name), Tensor::from<std::int64_t>(extents, values)};
  };
  return {tensor("input_ids", ids), tensor("attention_mask", mask), tensor("token_type_ids", types)};
}

}  // namespace alate::app
