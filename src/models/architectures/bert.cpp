// BERT: Devlin and others 2018, arXiv:1810.04805. Names and defaults are those of transformers' BertModel.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Builder;
using graph::Value;

struct BertConfig {
  std::int64_t vocabulary, hidden, layers, heads, intermediate, positions, types;
  double epsilon;
  std::string activation;
  std::string head;  // architectures[0]

  std::int64_t head_size() const { return hidden / heads; }
};

std::int64_t positive(const Json& config, std::string_view key, std::int64_t otherwise) {
  const std::int64_t value = config.get_int(key, otherwise);
  if (value < 1 || value > (std::int64_t{1} << 31))
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " is ", value, ", which no BERT has");
  return value;
}

BertConfig parse(const Json& config) {
  BertConfig bert{.vocabulary = positive(config, "vocab_size", 30522),
                  .hidden = positive(config, "hidden_size", 768),
                  .layers = positive(config, "num_hidden_layers", 12),
                  .heads = positive(config, "num_attention_heads", 12),
                  .intermediate = positive(config, "intermediate_size", 3072),
                  .positions = positive(config, "max_position_embeddings", 512),
                  .types = positive(config, "type_vocab_size", 2),
                  .epsilon = config.get_double("layer_norm_eps", 1e-12),
                  .activation = config.get_string("hidden_act", "gelu"),
                  .head = {}};
  if (bert.hidden % bert.heads != 0)
    throw make_error(ErrorCode::corrupt, "config.json: hidden_size ", bert.hidden,
                     " is not a multiple of num_attention_heads ", bert.heads);
  const std::string positions = config.get_string("position_embedding_type", "absolute");
  if (positions != "absolute")
    throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", positions,
                     "' is not built here, only absolute: ", positions);
  if (config.get_bool("is_decoder", false))
    throw Error(ErrorCode::unsupported,
                "config.json: a BERT with is_decoder is not built here, only encoders: is_decoder");
  if (const Json* names = config.find("architectures");
      names != nullptr && names->is_array() && !names->as_array("architectures").empty()) {
    bert.head = names->as_array("architectures")[0].as_string("architectures[0]");
  }
  return bert;
}

constexpr const char* kWordTable = "embeddings.word_embeddings.weight";

class Bert {
 public:
  Bert(Builder& b, const BertConfig& config, Weights& weights, const EncoderInputs& in)
      : b_(b), config_(config), weights_(weights), in_(in) {}

  Value embeddings() {
    b_.set_source("embeddings");
    const std::int64_t hidden = config_.hidden;
    const Value words = weights_.lookup(b_, kWordTable, in_.ids, config_.vocabulary, hidden);
    const Value types = weights_.lookup(b_, "embeddings.token_type_embeddings.weight", in_.type_ids, config_.types,
                                        hidden, Rounding::never);
    const Value positions = weights_.lookup(b_, "embeddings.position_embeddings.weight", in_.positions,
                                            config_.positions, hidden, Rounding::never);
    return norm("embeddings.LayerNorm", b_.add({b_.add({words, types}), positions}), hidden);
  }

  Value layer(std::int64_t index, Value x) {
    const std::string layer = "encoder.layer." + std::to_string(index) + ".";
    const std::int64_t hidden = config_.hidden;
    b_.set_source(layer + "attention");
    const Value attended = attention(layer + "attention.self.", x);
    const Value mixed = b_.add({linear(layer + "attention.output.dense", attended, hidden, hidden), x});
    const Value middle = norm(layer + "attention.output.LayerNorm", mixed, hidden);
    b_.set_source(layer + "feed_forward");
    const Value wide =
        activate(b_, config_.activation, linear(layer + "intermediate.dense", middle, hidden, config_.intermediate));
    const Value narrow = b_.add({linear(layer + "output.dense", wide, config_.intermediate, hidden), middle});
    return norm(layer + "output.LayerNorm", narrow, hidden);
  }

  Value pooler(Value x) {
    b_.set_source("pooler");
    return b_.tanh({head("pooler.dense", graph::take_rows(b_, x, in_.first), config_.hidden, config_.hidden)});
  }

  // BertForMaskedLM: a transform, then a product with the word table.
  Value masked_language_head(Value x) {
    b_.set_source("cls.predictions");
    const std::string head = "cls.predictions.";
    const Value transformed =
        norm(head + "transform.LayerNorm",
             activate(b_, config_.activation, this->head(head + "transform.dense", x, config_.hidden, config_.hidden)),
             config_.hidden);
    const bool untied = weights_.has(head + "decoder.weight");
    const Value table =
        untied ? weights_.get(b_, head + "decoder.weight", {config_.vocabulary, config_.hidden}) : word_table();
    const std::string bias = weights_.has(head + "bias") ? head + "bias" : head + "decoder.bias";
    return b_.dense({transformed, table, weights_.get(b_, bias, {config_.vocabulary})}, {.has_bias = true});
  }

  // A linear layer whose output width is given by the file.
  Value token_classifier(Value x) {
    b_.set_source("classifier");
    return head("classifier", x, config_.hidden, weights_.rows("classifier.weight"));
  }

  Value sequence_classifier(Value x) { return token_classifier(pooler(x)); }

 private:
  Value word_table() { return weights_.get(b_, kWordTable, {config_.vocabulary, config_.hidden}); }

  Value linear(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
    return weights_.linear(b_, name, x, from, to);
  }

  // Heads are little work and decide the result: they stay in float32.
  Value head(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
    return weights_.linear(b_, name, x, from, to, Rounding::never);
  }

  Value norm(const std::string& name, Value x, std::int64_t width) {
    return b_.layer_norm({x, weights_.get(b_, name + ".weight", {width}), weights_.get(b_, name + ".bias", {width})},
                         {.epsilon = config_.epsilon});
  }

  Value attention(const std::string& name, Value x) {
    const std::int64_t hidden = config_.hidden;
    const auto heads_of = [&](const char* part) {
      return b_.reshape({linear(name + part, x, hidden, hidden)},
                        {.dims = {in_.tokens, config_.heads, config_.head_size()}});
    };
    const Value query = heads_of("query"), key = heads_of("key"), value = heads_of("value");
    const graph::Attention attributes{.scale = 1 / std::sqrt(static_cast<double>(config_.head_size())),
                                      .has_lengths = true,
                                      .rounds_operands = weights_.settings().rounds_activations()};
    const Value mixed = b_.ragged_attention(
        {query, key, value, in_.starts, in_.lengths, in_.pad_index, in_.unpad_index, in_.key_lengths}, attributes);
    return b_.reshape({mixed}, {.dims = {in_.tokens, hidden}});
  }

  Builder& b_;
  const BertConfig& config_;
  Weights& weights_;
  const EncoderInputs& in_;
};

// A head that gives logits, by its class in transformers.
struct Head {
  std::string_view name;
  Value (Bert::*logits)(Value x);
};

constexpr std::array kHeads = {Head{"BertForMaskedLM", &Bert::masked_language_head},
                               Head{"BertForTokenClassification", &Bert::token_classifier},
                               Head{"BertForSequenceClassification", &Bert::sequence_classifier}};

}  // namespace

std::vector<std::string_view> bert_heads() {
  std::vector<std::string_view> names;
  for (const Head& head : kHeads) names.push_back(head.name);
  return names;
}

EncoderLimits bert_limits(const Json& config) {
  const BertConfig bert = parse(config);
  return {.vocabulary = bert.vocabulary, .positions = bert.positions, .types = bert.types, .hidden_size = bert.hidden};
}

BuiltEncoder build_bert(Builder& b, const Json& json, Weights& weights, const EncoderInputs& inputs, HeadChoice head) {
  const BertConfig config = parse(json);
  Bert bert(b, config, weights, inputs);
  Value x = bert.embeddings();
  for (std::int64_t i = 0; i < config.layers; ++i) x = bert.layer(i, x);

  BuiltEncoder built{.last_hidden_state = x, .outputs = {}};
  if (head == HeadChoice::none) return built;
  const auto* known = std::ranges::find(kHeads, config.head, &Head::name);
  if (known != kHeads.end()) {
    built.outputs = {{"logits", (bert.*known->logits)(x)}};
  } else if (config.head.starts_with("BertFor") || config.head.starts_with("BertLM")) {
    throw make_error(ErrorCode::unsupported, "the head '", config.head,
                     "' of config.json's architectures is not built here: ", config.head);
  } else {
    built.outputs = {{"last_hidden_state", x}};
    if (weights.has("pooler.dense.weight")) built.outputs.push_back({"pooler_output", bert.pooler(x)});
  }
  return built;
}

}  // namespace alate::models
