#include "models/encoder.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"
#include "graph/builder_functions.h"
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

EncoderInputs declare_encoder_inputs(graph::Builder& b, TokenPlaces places) {
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
  in.range = of("range", {in.longest});
  if (places == TokenPlaces::given)
    in.by_place = {.places = of("places", {in.tokens}), .masked = of("masked_places", {in.sequences})};
  return in;
}

void declare_word_inputs(graph::Builder& b, EncoderInputs& inputs, const EncoderHead& head) {
  WordInputs& in = inputs.words.emplace();
  in.words = b.dim("words", 1, {}, true);
  in.labels = b.dim("labels", 1, {}, true);
  in.pairs = b.dim("pairs", 1, {}, true);
  in.most_words = b.dim("most_words", 1, {}, true);
  in.most_labels = b.dim("most_labels", 1, {}, true);
  const auto of = [&](const char* name, std::vector<Dim> dims) {
    return b.parameter(name, {DType::i32, std::move(dims)});
  };
  in.word_tokens = of("word_tokens", {in.words});
  in.word_starts = of("word_starts", {inputs.sequences});
  in.word_counts = of("word_counts", {inputs.sequences});
  in.word_range = of("word_range", {in.most_words});
  in.label_tokens = of("label_tokens", {in.labels});
  in.label_starts = of("label_starts", {inputs.sequences});
  in.label_counts = of("label_counts", {inputs.sequences});
  in.label_range = of("label_range", {in.most_labels});
  in.pair_places = of("pair_places", {in.pairs, 3});
  in.pair_word = of("pair_word", {in.pairs});
  in.pair_label = of("pair_label", {in.pairs});
  if (!head.reads_tasks) return;
  TaskInputs& tasks = in.tasks.emplace();
  tasks.marks = b.dim("marks", 1, {}, true);
  tasks.label_groups = of("label_groups", {inputs.sequences, in.most_labels});
  tasks.mark_tokens = of("mark_tokens", {tasks.marks});
}

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
                                 gemma3_text(),
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
  EncoderScope scope{.b = b, .config = config, .weights = weights, .in = inputs};
  BuiltEncoder built{.last_hidden_state = architecture.encode(scope), .outputs = {}};
  built.hidden_states = scope.hidden_states;
  if (head == HeadChoice::of_folder)
    built.outputs = find_head(architecture, config).build(scope, built.last_hidden_state);
  return built;
}

std::vector<EncoderOutput> build_head(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                                      Weights& weights, Dim rows, graph::Value hidden) {
  tie(architecture, config, weights);
  EncoderInputs in;
  in.tokens = rows;
  EncoderScope scope{.b = b, .config = config, .weights = weights, .in = in};
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
