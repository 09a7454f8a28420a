// The common interface of encoder architectures: packed tokens in, a row for each token out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "graph/builder.h"
#include "models/inputs/encoder_inputs.h"
#include "models/inputs/page_inputs.h"
#include "models/inputs/row_inputs.h"
#include "models/weights/weights.h"

namespace alate::models {

/// An output of forward. Its rows are tokens or sequences.
struct EncoderOutput {
  std::string_view name;  // as `transformers` names it
  graph::Value value;
};

class SequenceContext;

/// Limits that callers of the graph must know.
struct EncoderLimits {
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  // tokens of the longest row
  std::int64_t types = 0;      // 0: they are ignored
  std::int64_t hidden_size = 0;
  /// Of architectures that count positions past padding (RoBERTa): the id of the padding token. A token of another id
  /// has the position `padding` + the number of such tokens up to and with it; a padding token has `padding` itself.
  /// Absent: positions are 0, 1, …
  std::optional<std::int32_t> padding = std::nullopt;

  /// How far apart places must be for attention to depend on their distance, masked places between them counted: the
  /// smallest window of some layer, or 0 where each distance has a bias. Absent: it depends on positions alone.
  std::optional<std::int64_t> window = std::nullopt;
  bool window_hides = false;  // keys further away than `window` are not seen; else their scores depend on the distance

  /// Of LongRoPE: texts of more tokens have other angles, so that keys of a text that was shorter are of no use for it.
  std::optional<std::int64_t> short_text = std::nullopt;
  /// Whether keys that were computed in a text of `before` tokens are those of its first tokens when it has `now`.
  bool keeps_keys(std::int64_t before, std::int64_t now) const {
    return !short_text || (before > *short_text) == (now > *short_text);
  }

  /// Rows of the table of positions.
  std::int64_t position_rows() const { return positions + (padding ? *padding + 1 : 0); }
};

/// The same for an architecture that counts positions past config.json's pad_token_id. Throws corrupt for one that
/// leaves no positions.
EncoderLimits counted_past_padding(EncoderLimits limits, const formats::Json& config);

/// Appends the positions of a row of token ids.
void append_positions(const EncoderLimits& limits, std::span<const std::int32_t> ids,
                      std::vector<std::int32_t>& positions);

struct BuiltEncoder {
  graph::Value last_hidden_state;      // [tokens, hidden]
  std::vector<EncoderOutput> outputs;  // of forward with the folder's head
  /// The embeddings and the output of each layer, as transformers' hidden_states; empty for architectures that do not
  /// list them.
  std::vector<graph::Value> hidden_states = {};
};

/// Whether `forward`'s head is built too, or only the base model.
enum class HeadChoice { of_folder, none };

/// A model that is being built: what the functions of an architecture work with.
struct EncoderScope {
  graph::Builder& b;
  const formats::Json& config;
  Weights& weights;
  const EncoderInputs& in;
  SequenceContext& sequences;
  std::vector<graph::Value> hidden_states = {};  // as in BuiltEncoder, by `encode`
};

/// A computation that an architecture offers; heads are built over what it gives.
struct EntrySpec {
  /// "encode": whole texts, declare_encoder_inputs. "step": the last tokens of texts whose earlier ones are in a cache,
  /// with declare_page_inputs too.
  std::string_view name;
  /// The last hidden state [tokens, hidden].
  graph::Value (*build)(EncoderScope& scope);
};

/// The entries of architectures that only take whole texts.
template <graph::Value (*build)(EncoderScope&)>
inline constexpr std::array kEncodes = {EntrySpec{"encode", build}};
/// The entries of those whose attention is all by EncoderScope::sequences, so that one function builds both.
template <graph::Value (*build)(EncoderScope&)>
inline constexpr std::array kDecodes = {EntrySpec{"encode", build}, EntrySpec{"step", build}};

/// The heads that give logits of the next token: of language models, and of those that see images too.
inline constexpr std::string_view kCausalHead = "ForCausalLM", kConditionalHead = "ForConditionalGeneration";
/// Whether a head of this name is one of them.
bool gives_next_token(std::string_view head);

/// What a class of transformers computes from the base model's last hidden state.
struct EncoderHead {
  std::string_view name;  // of the class, after the architecture's: "ForMaskedLM"
  std::vector<EncoderOutput> (*build)(EncoderScope& scope, graph::Value last_hidden_state);
  bool takes_choices = false;  // forward's inputs may be [batch, choices, length]; its logits are then [batch, choices]
  std::string_view prefix = {};       // of the base model's weights, where it is not Architecture::prefix
  const RowInputs* inputs = nullptr;  // that it takes beside the tokens; null: none
};

/// Names of one tensor, of which a file may have either.
struct TiedWeights {
  std::string_view name, other;
  bool always = false;  // whatever config.json's tie_word_embeddings says
};

struct Architecture;

/// How the weights of a model of this architecture are read. Throws as read_quantization.
WeightSettings weight_settings(const Architecture& architecture, const formats::Json& config, ComputeType dtype,
                               BlockActivations activations = BlockActivations::int8);

struct Architecture {
  std::string_view model_type;  // of config.json
  std::string_view class_name;  // at the beginning of transformers' classes: "Bert"
  std::string_view prefix;      // before the base model's weight names in checkpoints with a head
  EncoderLimits (*limits)(const formats::Json& config);
  std::span<const EntrySpec> entries;  // "encode" first
  EncoderHead base;                    // the outputs of the base model
  std::span<const EncoderHead> heads;
  // The table of words and that of heads over the vocabulary, unless config.json's tie_word_embeddings is false.
  std::span<const TiedWeights> tied = {};
  bool ties_by_default = true;  // where config.json does not say it
  std::string_view examples;    // models of this architecture that people know
  // For docs/models.md: other spellings of config.json and weights that are read, and settings that are refused.
  std::string_view also_read = {}, refused = {};
  // A part of the name of code (config.json's auto_map) that computes the same: "modeling_qwen.Qwen2".
  std::string_view own_code = {};
  // Of architectures that share a model_type: whether config.json is of this one, and what that is, for documents:
  // "`position_embedding_type` `alibi`". One of them has neither and is that of all other files.
  bool (*is_variant)(const formats::Json& config) = nullptr;
  std::string_view variant = {};
};

/// The architecture of a config.json. Throws unsupported naming the model_type.
const Architecture& find_architecture(const formats::Json& config);
/// All that can be built, in the order of the documentation.
std::span<const Architecture> architectures();

/// The head of a model whose outputs are of words with labels (EncoderInputs::words): GLiNER's and GLiNER2's; null for
/// all others.
const EncoderHead* find_word_head(const formats::Json& config);

/// Before the base model's weight names in a folder with this config.
std::string_view weight_prefix(const Architecture& architecture, const formats::Json& config);

/// That of find_word_head, or else the head that config.json's architectures[0] names; the base model's outputs where
/// it names none. Throws unsupported for a head that is not built here.
const EncoderHead& find_head(const Architecture& architecture, const formats::Json& config);

/// The entry "encode" in a graph that begins with `declare_encoder_inputs`, and what `head` asks for. Throws as
/// find_head and Weights.
BuiltEncoder build_encoder(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                           Weights& weights, const EncoderInputs& inputs, HeadChoice head);

/// The entry "step" in a graph that begins with `declare_encoder_inputs` and `declare_page_inputs`: the logits
/// [asked_tokens, vocabulary] of the tokens after those of PageInputs::asked. Throws unsupported for a model without a
/// "step" or without logits of the next token, and as find_head and Weights.
graph::Value build_step(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                        Weights& weights, const EncoderInputs& inputs, const PageInputs& pages,
                        SequenceContext& sequences);

/// What config.json's head computes of rows of hidden states, which need not be all tokens of a text: for heads that
/// treat each token by itself. Throws as find_head and Weights.
std::vector<EncoderOutput> build_head(const Architecture& architecture, graph::Builder& b, const formats::Json& config,
                                      Weights& weights, Dim rows, graph::Value hidden);

/// `name` of transformers' ACT2FN applied to x. Throws unsupported naming it.
graph::Value activate(graph::Builder& b, std::string_view name, graph::Value x);

/// The outputs of heads for question answering, from logits [tokens, 2]: start_logits and end_logits [tokens].
std::vector<EncoderOutput> span_columns(EncoderScope& scope, graph::Value logits);

// The architectures, a file each or one for a family.
Architecture bert();
Architecture jina_bert();
Architecture ernie();
Architecture roberta();
Architecture xlm_roberta();
Architecture camembert();
Architecture data2vec_text();
Architecture distilbert();
Architecture electra();
Architecture albert();
Architecture mpnet();
Architecture deberta();
Architecture deberta_v2();
Architecture modernbert();
Architecture modernbert_decoder();
Architecture nomic_bert();
Architecture gte();
Architecture gte_new();
Architecture jina_embeddings_v3();
Architecture jina_xlm_roberta();
Architecture eurobert();
Architecture llama();
Architecture mistral();
Architecture qwen2();
Architecture qwen3();
Architecture jina_ranking();
Architecture ministral();
Architecture ministral3();
Architecture mistral3();
Architecture phi3();
Architecture smollm3();
Architecture granite();
Architecture gemma();
Architecture gemma2();
Architecture gemma3_text();
Architecture gemma3();
Architecture embedding_gemma2();
Architecture embedding_gemma2_text();
Architecture t5();
Architecture mt5();
Architecture umt5();

}  // namespace alate::models
