#include "models/encoder.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"

namespace alate::models {
namespace {

constexpr std::array kArchitectures = {
    Architecture{"bert", "bert.", bert_limits, build_bert, bert_heads,
                 "all-MiniLM-L6-v2, bge-small-en-v1.5, e5-base-v2, mxbai-embed-large-v1"},
};

}  // namespace

EncoderInputs declare_encoder_inputs(graph::Builder& b) {
  EncoderInputs in;
  // Dims may be padded: added tokens belong to no sequence, and added sequences have no tokens.
  in.tokens = b.dim("tokens", 1, {}, true);
  in.sequences = b.dim("sequences", 1, {}, true);
  in.longest = b.dim("longest", 1, {}, true);
  const auto of = [&](const char* name, std::vector<Dim> dims) {
    return b.parameter(name, {DType::i32, std::move(dims)});
  };
  in.ids = of("input_ids", {in.tokens});
  in.type_ids = of("token_type_ids", {in.tokens});
  in.positions = of("position_ids", {in.tokens});
  in.starts = of("starts", {in.sequences});
  in.lengths = of("lengths", {in.sequences});
  in.key_lengths = of("key_lengths", {in.sequences});
  in.first = of("first", {in.sequences});
  in.pool_starts = of("pool_starts", {in.sequences});
  in.pool_lengths = of("pool_lengths", {in.sequences});
  in.pad_index = of("pad_index", {in.sequences, in.longest});
  in.unpad_index = of("unpad_index", {in.tokens, 2});
  return in;
}

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture& find_architecture(const formats::Json& config) {
  const std::string type = config.get_string("model_type", "");
  const auto* found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                   [&](const Architecture& row) { return row.model_type == type; });
  if (found != kArchitectures.end()) return *found;
  std::string known;
  for (const Architecture& row : kArchitectures) known += (known.empty() ? "" : ", ") + std::string(row.model_type);
  if (type.empty())
    throw make_error(ErrorCode::unsupported, "config.json names no model_type (known here: ", known, "): model_type");
  throw make_error(ErrorCode::unsupported, "architecture '", type, "' is not among those that this version builds (",
                   known, "): ", type);
}

}  // namespace alate::models
