#include "server/models/request_tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/refuse.h"

namespace alate::server {
namespace {

// Special tokens that the model's template adds around a single text.
struct Frame {
  std::vector<std::int32_t> before, after;
};

Frame frame_of(const Tokenizer& tokenizer) {
  EncodeOptions options;
  options.with_offsets = options.with_tokens = false;
  const Encoding encoding = tokenizer.encode("a", options);
  Frame frame;
  std::size_t begin = 0, end = encoding.ids.size();
  while (begin < end && encoding.special_mask[begin] != 0) frame.before.push_back(encoding.ids[begin++]);
  while (end > begin && encoding.special_mask[end - 1] != 0) --end;
  frame.after.assign(encoding.ids.begin() + static_cast<std::ptrdiff_t>(end), encoding.ids.end());
  return frame;
}

bool has_frame(const std::vector<std::int32_t>& row, const Frame& frame) {
  return row.size() >= frame.before.size() + frame.after.size() &&
         std::equal(frame.before.begin(), frame.before.end(), row.begin()) &&
         std::equal(frame.after.rbegin(), frame.after.rend(), row.rbegin());
}

std::string place_of_input(const EmbedRequest& request, std::size_t input) {
  return request.lone ? request.parameter : request.parameter + "[" + std::to_string(input) + "]";
}

void check_ids(const EmbedRequest& request, std::size_t input, std::int64_t vocabulary) {
  const std::vector<std::int32_t>& row = request.token_rows[input];
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] >= 0 && row[j] < vocabulary) continue;
    refuse(Problem::Kind::impossible,
           place_of_input(request, input) + "[" + std::to_string(j) + "] is " + std::to_string(row[j]) +
               "; the model's token ids are 0 to " + std::to_string(vocabulary - 1),
           request.parameter);
  }
}

// Token ids sent by the client, with the model's special tokens added and truncated to its length.
pipelines::TokenizedTexts framed_rows(const EmbeddingPipeline& pipeline, const EmbedRequest& request) {
  const Frame frame = frame_of(pipeline.tokenizer());
  const std::int64_t vocabulary = pipeline.model().state().limits.vocabulary;
  const std::size_t added = frame.before.size() + frame.after.size();
  const std::size_t room = pipeline.max_length() - std::min(pipeline.max_length(), added);
  pipelines::TokenizedTexts result;
  for (std::size_t i = 0; i < request.token_rows.size(); ++i) {
    check_ids(request, i, vocabulary);
    const std::vector<std::int32_t>& row = request.token_rows[i];
    const bool framed = has_frame(row, frame);
    const std::ptrdiff_t head = framed ? static_cast<std::ptrdiff_t>(frame.before.size()) : 0;
    const std::ptrdiff_t tail = framed ? static_cast<std::ptrdiff_t>(frame.after.size()) : 0;
    std::span<const std::int32_t> inner(row.begin() + head, row.end() - tail);
    if (inner.size() > room) {
      const bool left = request.truncation_side == Side::left;
      inner = left ? inner.last(room) : inner.first(room);
      result.truncated.push_back(i);
    }
    std::vector<std::int32_t> whole = frame.before;
    whole.insert(whole.end(), inner.begin(), inner.end());
    whole.insert(whole.end(), frame.after.begin(), frame.after.end());
    result.rows.push_back(std::move(whole));
  }
  return result;
}

}  // namespace

pipelines::TokenizedTexts tokenize_request(const EmbeddingPipeline& pipeline, const EmbedRequest& request,
                                           const EmbedOptions& options) {
  pipelines::TokenizedTexts tokenized = request.token_rows.empty()
                                            ? pipelines::tokenize_texts(pipeline, request.texts, options)
                                            : framed_rows(pipeline, request);
  if (request.truncate || tokenized.truncated.empty()) return tokenized;
  refuse(Problem::Kind::too_long,
         place_of_input(request, tokenized.truncated.front()) + " has more than the " +
             std::to_string(pipeline.max_length()) + " tokens that the model takes; shorten it, or allow it to be cut",
         request.parameter);
}

}  // namespace alate::server
