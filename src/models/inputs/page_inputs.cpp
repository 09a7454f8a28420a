#include "models/inputs/page_inputs.h"

#include "models/inputs/encoder_inputs.h"

namespace alate::models {

PageInputs declare_page_inputs(graph::Builder& b, const EncoderInputs& inputs, std::int64_t page_rows) {
  PageInputs in;
  in.pages = b.dim("pages", 1);
  in.most_pages = b.dim("most_pages", 1, {}, true);
  in.asked_tokens = b.dim("asked_tokens", 0, {}, true);
  in.page_rows = page_rows;
  in.table = b.parameter("page_table", {DType::i32, {inputs.sequences, in.most_pages}});
  in.slots = b.parameter("slots", {DType::i32, {inputs.tokens}});
  in.last_positions = b.parameter("last_positions", {DType::i32, {inputs.sequences}});
  in.asked = b.parameter("asked", {DType::i32, {in.asked_tokens}});
  return in;
}

std::size_t CacheSpec::bytes_per_token() const {
  std::size_t bytes = bits_of(dtype) / 8;
  for (const std::int64_t extent : row) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

std::size_t bytes_per_token(std::span<const CacheSpec> layout) {
  std::size_t bytes = 0;
  for (const CacheSpec& cache : layout) bytes += cache.bytes_per_token();
  return bytes;
}

}  // namespace alate::models
