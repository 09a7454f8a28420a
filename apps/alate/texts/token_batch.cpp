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
  if (longest_ > kMostElements / (rows_.size() + 1))
    throw make_error(ErrorCode::resource_exhausted, "rows of ", longest_, " tokens are too large for one file after ",
                     rows_.size(), " texts; write jsonl, or fewer texts to a file");
  Encoding& row = rows_.emplace_back();
  row.ids = encoding.ids;
  row.type_ids = encoding.type_ids;
  row.special_mask = encoding.special_mask;
  row.attention_mask = encoding.attention_mask;
}

std::vector<formats::NamedTensor> TokenBatch::tensors() {
  Padding padding = padding_;
  padding.length = std::max(padding.length.value_or(0), longest_);
  pad(rows_, padding);
  const std::size_t length = rows_.empty() ? 0 : rows_.front().ids.size();
  std::vector<std::int64_t> ids, mask, types;
  for (std::vector<std::int64_t>* list : {&ids, &mask, &types}) list->reserve(rows_.size() * length);
  for (const Encoding& row : rows_) {
    ids.insert(ids.end(), row.ids.begin(), row.ids.end());
    mask.insert(mask.end(), row.attention_mask.begin(), row.attention_mask.end());
    types.insert(types.end(), row.type_ids.begin(), row.type_ids.end());
  }
  const std::vector<std::int64_t> extents = {static_cast<std::int64_t>(rows_.size()),
                                             static_cast<std::int64_t>(length)};
  const auto tensor = [&](std::string_view name, std::span<const std::int64_t> values) {
    return formats::NamedTensor{std::string(name), Tensor::from<std::int64_t>(extents, values)};
  };
  return {tensor("input_ids", ids), tensor("attention_mask", mask), tensor("token_type_ids", types)};
}

}  // namespace alate::app
