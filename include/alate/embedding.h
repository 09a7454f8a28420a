// Text embeddings: the sentence-transformers pipeline.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding_kinds.h"
#include "alate/embedding_similarity.h"
#include "alate/long_texts.h"
#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"

namespace alate {

/// How one vector is made of those of a text's tokens.
enum class Pooling { mean, cls, max, last, mean_sqrt_len, weighted_mean };
/// The names of sentence-transformers: "mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean".
std::string_view to_string(Pooling pooling);
/// The inverse; nothing for an unknown name.
std::optional<Pooling> parse_pooling(std::string_view name);

struct EmbeddingLoadOptions {
  LoadOptions load = {};
  std::optional<Pooling> pooling = {};  // absent: as the model's modules say
  // Also a model that is for something else: a reranker, a classifier, a language model without modules. Its vectors
  // are the mean of its last layer's, or the last token's, for which nobody has trained it.
  bool force = false;
};

struct EmbedOptions {
  // In tokens, special ones included. Absent: as the model states.
  std::optional<std::size_t> max_length = {};
  // Of longer texts. Absent: truncation_side is cut. cut and cut_left cut the end and the beginning. windows, of dense
  // vectors: a text is read in windows, each with the prompt, and its vector is the mean of theirs, weighted by their
  // tokens of the text, and normalized if they are. Models are trained with whole texts: chunks (alate/chunk.h) are
  // better units of search.
  std::optional<LongTexts> long_texts = {};
  std::optional<std::size_t> stride = {};  // tokens that a window shares with the one before it; absent: a quarter
  std::size_t batch_tokens = 2048;         // maximum tokens per batch; a longer text is a batch of its own
  std::size_t batch_size = 0;              // maximum texts per batch; 0: limited only by batch_tokens
  std::optional<bool> normalize = {};      // absent: as the model's modules say
  // Keeps the first N numbers and, if the vectors were normalized, normalizes again.
  std::optional<std::size_t> dimensions = {};
  std::optional<Side> truncation_side = {};  // the side that truncation removes; absent: as the tokenizer's file says
  // A prompt of config_sentence_transformers.json; empty: the default one, if it names one.
  std::string prompt_name = {};
  std::optional<std::string> prompt = {};  // prefix of each text, instead of a named prompt
  // Of sparse embeddings: keeps the N largest weights of each; absent: all that are not 0.
  std::optional<std::size_t> sparse_top_k = {};
  // What the texts are for, as sentence-transformers' encode_query and encode_document say it: "query" has the prompt
  // of that name, "document" the first of document, passage and corpus, or none, unless a prompt is given. Empty:
  // neither. For late interaction (ColBERT) queries and documents are different inputs; empty means document there. A
  // model with a Router (sentence-transformers; Asym) sends them through different modules, and may know other tasks. A
  // model with low-rank adapters (jina-embeddings-v3; folders of peft) computes with the one that the task names, after
  // its prompt: "text-matching"; query and document are "retrieval.query" and "retrieval.passage" there. Without a
  // task no adapter is used.
  std::string task = {};
};

/// Row i is the vector of text i, however the texts were batched.
struct Embeddings {
  Tensor vectors;                      // f32 [texts, dimensions]
  std::vector<std::size_t> truncated;  // indices of truncated texts, ascending
  std::size_t tokens = 0;              // computed tokens, including special tokens
};

/// A tokenizer, an encoder and the modules after it. Immutable; thread-safe; copies share state.
class EmbeddingPipeline {
 public:
  /// A sentence-transformers folder (modules.json and the files it names), or a plain encoder, which then gets mean
  /// pooling; a masked language model without modules.json gives sparse embeddings too (SPLADE). Throws as Model::load,
  /// and unsupported for an unknown module and, unless forced, for a model that is no embedder.
  static EmbeddingPipeline load(const std::filesystem::path& folder, const EmbeddingLoadOptions& options = {},
                                const RunControl& control = {});

  /// Throws invalid_argument for options that the model cannot meet and for a text that is too long where that is an
  /// error, cancelled, deadline_exceeded. Texts may be empty.
  /// The texts must live until the call returns.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options = {},
                   const RunControl& control = {}) const;
  Embeddings embed(std::span<const std::string_view> texts, const EmbedOptions& options = {},
                   const RunControl& control = {}) const;
  /// embed({"a text", "another"}): a list in braces is always a list of texts, even of one.
  Embeddings embed(std::initializer_list<std::string_view> texts, const EmbedOptions& options = {},
                   const RunControl& control = {}) const {
    return embed(std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }
  /// One text: one row.
  Embeddings embed(std::string_view text, const EmbedOptions& options = {}, const RunControl& control = {}) const {
    return embed(std::span<const std::string_view>(&text, 1), options, control);
  }
  /// Embeds token ids, which include special tokens. Never truncates: a row with more tokens than the model has
  /// positions throws invalid_argument.
  Embeddings embed_tokens(std::span<const std::vector<std::int32_t>> rows, const EmbedOptions& options = {},
                          const RunControl& control = {}) const;

  /// The same texts as embeddings of several kinds, from one run of the encoder. `normalize` and `dimensions` are for
  /// dense ones. Throws as embed, and unsupported for kinds that the model does not give.
  KindEmbeddings embed_kinds(std::span<const std::string> texts, const EmbeddingKinds& kinds,
                             const EmbedOptions& options = {}, const RunControl& control = {}) const;
  KindEmbeddings embed_kinds(std::span<const std::string_view> texts, const EmbeddingKinds& kinds,
                             const EmbedOptions& options = {}, const RunControl& control = {}) const;
  /// The kinds that the model gives. Functions above that name no kinds give dense ones, and throw unsupported where
  /// the model does not.
  EmbeddingKinds kinds() const;
  /// The kind that the model's folder is for.
  EmbeddingKind main_kind() const;

  /// How the model's folder says that its dense vectors are to be compared (similarity_fn_name); cosine if it does not.
  Similarity similarity() const;

  std::size_t dimensions() const;  // of dense vectors; 0 without them
  std::size_t max_length() const;  // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  /// The encoder itself, without pooling and later modules.
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit EmbeddingPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
