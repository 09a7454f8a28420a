// The stages of EmbeddingPipeline::embed one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/selection.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/prepared_rows.h"
#include "pipelines/modules/kind_modules.h"
#include "pipelines/modules/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

struct EmbeddingPipeline::State {
  State(Model loaded, Tokenizer tokens, pipelines::EmbeddingModules read, pipelines::KindModules kinds_read);

  Model model;
  Tokenizer tokenizer;
  pipelines::EmbeddingModules modules;
  pipelines::KindModules kinds;
  // Of KindModules::static_weights, and the most tokens that its files state.
  std::optional<Tokenizer> static_tokenizer;
  std::optional<std::size_t> static_length;
  std::size_t max_length = 0;
  std::size_t width = 0;       // of the vectors that entry points give
  std::size_t dimensions = 0;  // of the vectors that are answered by default: `width` or fewer
  // Of a Router with several transformers: the routes, and the pipelines of those over another transformer than this
  // one's. Vectors of all have the same width.
  pipelines::RouteTable routes;
  std::map<std::string, EmbeddingPipeline, std::less<>> beside;

  /// The pipelines in `beside`, each once.
  std::vector<EmbeddingPipeline> others() const;
  /// Model::fingerprint, of all transformers.
  Fingerprint fingerprint() const;

  /// The entry point that ends in the folder's modules for texts of a task, with or without normalization; compiled at
  /// first use. Throws as EmbeddingModules::for_task, and unsupported for a route whose vectors have another width than
  /// `width`. REQUIRES: the model gives dense embeddings, and this pipeline is pipeline_for the task.
  std::shared_ptr<const runtime::EntryPoint> entry_point(bool normalize, std::string_view task = {}) const;
  /// The entry point of these kinds; the same. REQUIRES: the model gives them.
  std::shared_ptr<const runtime::EntryPoint> kind_entry_point(const EmbeddingKinds& asked, bool normalize,
                                                              std::string_view task = {}) const;
  /// The adapter that texts of a task go through, of the model's that are named by tasks; empty: none. "query" and
  /// "document" are also "retrieval.query" and "retrieval.passage", Jina's names, and these with "_".
  std::string_view adapter_of(std::string_view task) const;
  /// The entry point that loading compiles: that of the folder's main kind.
  std::shared_ptr<const runtime::EntryPoint> main_entry_point() const;
  /// The entry point that gives the vector of each token, from the encoder's last layer; the same.
  std::shared_ptr<const runtime::EntryPoint> token_entry_point() const;
};

}  // namespace alate

namespace alate::pipelines {

/// EmbeddingLoadOptions, and who made the choices in them.
struct EmbeddingRequest {
  EmbeddingRequest() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a load with the folder's own pooling.
  EmbeddingRequest(runtime::LoadRequest given, std::optional<Pooling> pools = {})
      : load(std::move(given)), pooling(pools) {}
  // NOLINTNEXTLINE(google-explicit-constructor): options without an origin are the library's user's own.
  EmbeddingRequest(const EmbeddingLoadOptions& given) : load(given.load), pooling(given.pooling), force(given.force) {}
  /// The same for a model of any task.
  EmbeddingRequest forced() && {
    force = true;
    return std::move(*this);
  }

  runtime::LoadRequest load;
  std::optional<Pooling> pooling;
  bool force = false;
};

/// The pipeline that texts of a task go through: another one where their route has a transformer of its own. The
/// functions below find it themselves. Throws as RouteTable::place_of.
const EmbeddingPipeline& pipeline_for(const EmbeddingPipeline& pipeline, std::string_view task);

/// The task of texts that are cut into chunks: none, or "document" where a Router has no route for texts without one.
std::string_view task_of_chunked(const EmbeddingPipeline& pipeline);

/// A pipeline, and its model while it has no other owner.
struct LoadedPipeline {
  EmbeddingPipeline pipeline;
  std::shared_ptr<Model::State> model;
};
/// EmbeddingPipeline::load for any dtype but an automatic one, which is treated as none.
LoadedPipeline load_pipeline(const std::filesystem::path& folder, const EmbeddingRequest& request,
                             runtime::LoadWatch& watch);
/// EmbeddingPipeline::load.
EmbeddingPipeline load_embedding(const std::filesystem::path& folder, const EmbeddingRequest& request,
                                 const RunControl& control = {});

/// check_loadable for a model whose main task is to embed, with any dtype but an automatic one.
Selection check_embedding(const std::filesystem::path& folder, const runtime::LoadRequest& request, bool has_tokenizer);

/// Throws unsupported, saying what the model gives, for kinds that it does not give, and invalid_argument for no kind.
void require_kinds(const EmbeddingPipeline& pipeline, const EmbeddingKinds& kinds);

/// Whether the texts are queries.
bool is_query(const EmbedOptions& options);
/// What comes before each text. Throws invalid_argument for an unknown task or prompt.
const std::string& embedding_prompt(const EmbeddingPipeline& pipeline, const EmbedOptions& options);
/// The most tokens of a row. Throws invalid_argument for a max_length that the model cannot meet.
std::size_t embedding_row_limit(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// Prepends the prompt, truncates and tokenizes the texts as in `options`, in parallel on the shared pool; texts that
/// are too long are cut where that is an error, too, and listed. Throws as EmbeddingPipeline::embed, which asks
/// `cancellation` before each text, and resource_exhausted over a limit.
PreparedRows prepare_embedding(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                               const EmbedOptions& options, const base::Cancellation& cancellation,
                               const CallLimits& limits = {});
/// What a message says of a text that is too long, after its name.
std::string embedding_excess(const EmbeddingPipeline& pipeline, const EmbedOptions& options);
/// The same of token ids, with the special tokens that the model puts around a text where a row lacks them; truncated
/// as texts are. Throws invalid_argument for an id that the model does not have: "[row][place] is …".
PreparedRows prepare_framed_ids(const EmbeddingPipeline& pipeline, std::span<const std::vector<std::int32_t>> rows,
                                const EmbedOptions& options);

/// Whether vectors are normalized to length 1 with these options.
bool normalizes(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// The numbers of each vector that `finish_embedding` gives. Throws invalid_argument when the options ask for more than
/// the model's vectors can have.
std::size_t kept_dimensions(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// Makes the answer, [rows, kept_dimensions], of an entry point's values, [rows, State::width], in place: vectors that
/// keep fewer numbers are moved together and, if they were normalized, normalized again, except where the folder itself
/// keeps fewer (truncate_dim): sentence-transformers does not then. Returns how many numbers are left, at the front.
std::size_t finish_embedding(const EmbeddingPipeline& pipeline, const EmbedOptions& options, std::span<float> values);

}  // namespace alate::pipelines
