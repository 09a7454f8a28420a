#include "models/encoder.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/blocks/sequence_context.h"
#include "models/heads/extractor.h"
#include "models/heads/gliner.h"
#include "models/refused_architectures.h"

namespace alate::models {
namespace {

// "BertModel, BertForMaskedLM"
std::string class_names(const Architecture& architecture) {
  std::string names = std::string(architecture.class_name) + std::string(architecture.base.name);
  for (const EncoderHead& head : architecture.heads)
    names += ", " + std::string(architecture.class_name) + std::string(head.name);
  return names;
}

// architectures[0] of config.json; empty: none.
std::string_view class_in(const formats::Json& config) {
  const formats::Json* names = config.find("architectures");
  if (names == nullptr || !names->is_array() || names->as_array("architectures").empty()) return {};
  return names->as_array("architectures")[0].as_string("architectures[0]");
}

// What follows the architecture's part of a class's name; empty for classes of others.
std::string_view head_name(const Architecture& architecture, std::string_view whole) {
  return whole.starts_with(architecture.class_name) ? whole.substr(architecture.class_name.size()) : std::string_view();
}

// The entry of that name; null for architectures that only take whole texts.
const EntrySpec* step_of(const Architecture& architecture) {
  const auto found = std::ranges::find(architecture.entries, "step", &EntrySpec::name);
  return found == architecture.entries.end() ? nullptr : &*found;
}

void tie(const Architecture& architecture, const formats::Json& config, Weights& weights) {
  const bool ties = config.get_bool("tie_word_embeddings", architecture.ties_by_default);
  for (const TiedWeights& tied : architecture.tied) {
    if (ties || tied.always) weights.tie(tied.name, tied.other);
  }
}

// Null where the architecture has no such head.
const EncoderHead* named_head(const Architecture& architecture, std::string_view name) {
  const auto found = std::ranges::find(architecture.heads, name, &EncoderHead::name);
  return found == architecture.heads.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Architecture> architectures() {
  static const std::array all = {bert(),
                                 jina_bert(),
                                 ernie(),
                                 roberta(),
                                 xlm_roberta(),
                                 camembert(),
                                 data2vec_text(),
                                 distilbert(),
                                 electra(),
                                 albert(),
                                 mpnet(),
                                 deberta(),
                                 deberta_v2(),
                                 modernbert(),
                                 modernbert_decoder(),
                                 nomic_bert(),
                                 gte(),
                                 gte_new(),
                                 jina_embeddings_v3(),
                                 jina_xlm_roberta(),
                                 eurobert(),
                                 llama(),
                                 mistral(),
                                 qwen2(),
                                 qwen3(),
                                 jina_ranking(),
                                 ministral(),
                                 ministral3(),
                                 mistral3(),
                                 phi3(),
                                 smollm3(),
                                 granite(),
                                 gemma(),
                                 gemma2(),
                                 gemma3_text(),
                                 gemma3(),
                                 embedding_gemma2(),
                                 embedding_gemma2_text(),
                                 t5(),
                                 mt5(),
                                 umt5()};
  return all;
}

const Architecture& find_architecture(const formats::Json& config) {
  const std::string type = config.get_string("model_type", "");
  const Architecture* found = nullptr;
  for (const Architecture& each : architectures()) {
    if (each.model_type != type) continue;
    if (each.is_variant == nullptr) found = &each;
    if (each.is_variant != nullptr && each.is_variant(config)) return each;
  }
  if (found != nullptr) return *found;
  throw Error(ErrorCode::unsupported, refusal_of(config));
}

bool gives_next_token(std::string_view head) { return head == kCausalHead || head == kConditionalHead; }

const EncoderHead* find_word_head(const formats::Json& config) {
  if (is_extractor(config)) return &extractor_head();
  return is_gliner(config) ? &gliner_head() : nullptr;
}

std::string_view weight_prefix(const Architecture& architecture, const formats::Json& config) {
  const EncoderHead* head = find_word_head(config);
  if (head == nullptr) head = named_head(architecture, head_name(architecture, class_in(config)));
  return head == nullptr || head->prefix.empty() ? architecture.prefix : head->prefix;
}

const EncoderHead& find_head(const Architecture& architecture, const formats::Json& config) {
  if (const EncoderHead* word_head = find_word_head(config)) return *word_head;
  const std::string_view whole = class_in(config), name = head_name(architecture, whole);
  if (const EncoderHead* found = named_head(architecture, name)) return *found;
  if (name.starts_with("For") || name.starts_with("LM"))
    throw make_error(ErrorCode::unsupported, "the head '", whole,
                     "' of config.json's architectures is not built here, only ", class_names(architecture), ": ",
                     whole);
  return architecture.base;
}

BuiltEncoder build_encoder(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                           Weights& weights, const EncoderInputs& inputs, HeadChoice head) {
  tie(architecture, config, weights);
  WholeTexts texts(b);
  EncoderScope scope{.b = b, .config = config, .weights = weights, .in = inputs, .sequences = texts};
  BuiltEncoder built{.last_hidden_state = architecture.entries.front().build(scope), .outputs = {}};
  built.hidden_states = scope.hidden_states;
  if (head == HeadChoice::of_folder)
    built.outputs = find_head(architecture, config).build(scope, built.last_hidden_state);
  return built;
}

WeightSettings weight_settings(const Architecture& architecture, const formats::Json& config, ComputeType dtype,
                               BlockActivations activations) {
  return {.quantization = read_quantization(config),
          .dtype = loaded_type(dtype),
          .activations = activations,
          // A step's products of one row take the time in which weights are read.
          .keeps_halves = step_of(architecture) != nullptr};
}

graph::Value build_step(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                        Weights& weights, const EncoderInputs& inputs, const PageInputs& pages,
                        SequenceContext& sequences) {
  const EntrySpec* entry = step_of(architecture);
  if (entry == nullptr)
    throw make_error(ErrorCode::unsupported, "models of type ", architecture.model_type,
                     " are not decoded here: there is no next token");
  const EncoderHead& head = find_head(architecture, config);
  if (!gives_next_token(head.name))
    throw make_error(ErrorCode::unsupported, "the model has no logits of a next token, as ", architecture.class_name,
                     kCausalHead, " has: config.json's architectures");
  tie(architecture, config, weights);
  EncoderScope scope{.b = b, .config = config, .weights = weights, .in = inputs, .sequences = sequences};
  const graph::Value hidden = entry->build(scope);
  return head.build(scope, graph::take_rows(b, hidden, pages.asked)).front().value;
}

std::vector<EncoderOutput> build_head(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                                      Weights& weights, Dim rows, graph::Value hidden) {
  tie(architecture, config, weights);
  EncoderInputs in;
  in.tokens = rows;
  WholeTexts texts(b);
  EncoderScope scope{.b = b, .config = config, .weights = weights, .in = in, .sequences = texts};
  return find_head(architecture, config).build(scope, hidden);
}

std::vector<EncoderOutput> span_columns(EncoderScope& scope, graph::Value logits) {
  return {{"start_logits", graph::column(scope.b, logits, 0)}, {"end_logits", graph::column(scope.b, logits, 1)}};
}

EncoderLimits counted_past_padding(EncoderLimits limits, const formats::Json& config) {
  const std::int64_t padding = config.get_int("pad_token_id", 1);
  if (padding < 0 || padding >= limits.vocabulary || padding + 1 >= limits.positions)
    throw make_error(ErrorCode::corrupt, "config.json: pad_token_id is ", padding,
                     ", which leaves no positions of the ", limits.positions);
  limits.positions -= padding + 1;
  limits.padding = static_cast<std::int32_t>(padding);
  return limits;
}

void append_positions(const EncoderLimits& limits, std::span<const std::int32_t> ids,
                      std::vector<std::int32_t>& positions) {
  std::int32_t next = limits.padding ? *limits.padding + 1 : 0;
  for (const std::int32_t id : ids) positions.push_back(limits.padding && id == *limits.padding ? id : next++);
}

}  // namespace alate::models
