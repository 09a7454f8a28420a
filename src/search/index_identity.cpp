#include "search/index_identity.h"

#include <array>
#include <filesystem>
#include <string_view>

#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/modules/kind_modules.h"
#include "runtime/loading/model_files.h"
#include "search/question_vectors.h"

namespace alate::search {
namespace {

// The files of a folder, besides weights, that decide what the vector of a text is.
constexpr std::array<std::string_view, 15> kFiles = {"config.json",
                                                     "tokenizer.json",
                                                     "tokenizer_config.json",
                                                     "special_tokens_map.json",
                                                     "added_tokens.json",
                                                     "vocab.txt",
                                                     "vocab.json",
                                                     "merges.txt",
                                                     "tokenizer.model",
                                                     "spiece.model",
                                                     "sentencepiece.bpe.model",
                                                     "modules.json",
                                                     "router_config.json",
                                                     "sentence_bert_config.json",
                                                     "config_sentence_transformers.json"};

}  // namespace

EmbedOptions passage_options() { return {.normalize = true, .sparse_top_k = kMostSparseWeights, .task = "document"}; }
EmbedOptions question_options() { return {.normalize = true, .sparse_top_k = kMostSparseWeights, .task = "query"}; }

std::string vector_identity(const EmbeddingPipeline& pipeline) {
  FingerprintBuilder builder;
  builder.add(pipeline.state().fingerprint());
  const std::filesystem::path& home = pipeline.model().folder();
  const base::ContainedFiles contained(home);
  const auto add_files = [&](const std::filesystem::path& folder) {
    for (const std::string_view name : kFiles) {
      const std::filesystem::path file = folder / name;
      std::error_code error;
      if (!std::filesystem::is_regular_file(file, error)) continue;
      builder.add(file.lexically_relative(home).generic_string())
          .add(base::MappedFile::open(file, base::MappedFile::Mode::map, &contained)->bytes());
    }
  };
  add_files(home);
  for (const std::filesystem::path& folder : runtime::transformer_folders(home)) {
    if (folder != home) add_files(folder);
  }
  builder.add(pipelines::embedding_prompt(pipeline, passage_options()));
  builder.add(pipelines::embedding_prompt(pipeline, question_options()));
  builder.add(std::uint64_t{pipeline.dimensions()}).add(std::uint64_t{pipeline.max_length()});
  for (const graph::PoolMode mode : pipeline.state().modules.pooling())
    builder.add(std::uint64_t{static_cast<std::uint8_t>(mode)});
  return to_string(builder.finish());
}

std::string chunk_identity(const ChunkOptions& options) {
  // How files are read and cut; to be raised where the same options give other passages.
  constexpr std::uint64_t kRules = 2;
  FingerprintBuilder builder;
  builder.add(kRules);
  builder.add(to_string(options.method)).add(std::uint64_t{options.target_tokens});
  builder.add(std::uint64_t{options.overlap_tokens.has_value()}).add(std::uint64_t{options.overlap_tokens.value_or(0)});
  builder.add(options.separator);
  builder.add(std::uint64_t{options.max_chunks.has_value()}).add(std::uint64_t{options.max_chunks.value_or(0)});
  builder.add(std::to_string(options.threshold)).add(std::to_string(options.percentile.value_or(-1)));
  return to_string(builder.finish());
}

std::string sparse_identity(const EmbeddingPipeline& pipeline) {
  if (!pipeline.kinds().sparse) return "";
  const pipelines::KindModules& modules = pipeline.state().kinds;
  FingerprintBuilder builder;
  builder.add(std::uint64_t{modules.splade.has_value()});
  const auto add_splade = [&](const pipelines::SpladeModule& splade) {
    builder.add(std::uint64_t{splade.sums}).add(std::uint64_t{splade.takes_log_twice});
  };
  if (modules.splade) add_splade(*modules.splade);
  for (const auto& [route, splade] : modules.splades) {
    if (splade == *modules.splade) continue;
    builder.add(route);
    add_splade(splade);
  }
  const base::ContainedFiles contained(pipeline.model().folder());
  const auto add_file = [&](const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error))
      builder.add(base::MappedFile::open(file, base::MappedFile::Mode::map, &contained)->bytes());
  };
  if (modules.token_weights) add_file(modules.token_weights->layer.file);
  // The tables of these: their files' names begin so in both spellings.
  for (const std::filesystem::path& folder : {modules.static_weights ? modules.static_weights->folder : "",
                                              modules.autoencoder ? modules.autoencoder->folder : ""}) {
    if (folder.empty()) continue;
    for (const char* name : {"config.json", "model.safetensors", "pytorch_model.bin", "idf.json", "tokenizer.json"})
      add_file(folder / name);
  }
  return to_string(builder.finish());
}

std::string index_identity(const EmbeddingPipeline& pipeline, const ChunkOptions& chunk) {
  return vector_identity(pipeline) + chunk_identity(chunk) + sparse_identity(pipeline);
}

}  // namespace alate::search
