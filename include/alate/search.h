// Search by meaning in a folder of vectors, and the building of such folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "alate/rerank.h"
#include "alate/run_control.h"

namespace alate {

struct IndexOptions {
  ChunkOptions chunk = {.method = ChunkMethod::recursive, .target_tokens = 200};
  std::string model = {};  // the model's name, for those who search; recorded as it is
  /// The numbers of vectors in the file. float32: as the model gives them. int8: a byte for each, with a scale for each
  /// vector; all vectors are compared, in bytes. binary: these bytes, and a bit for each number; the bits of all
  /// vectors are compared, and the nearest are compared again in bytes. An index of float32 becomes one of another
  /// precision without the model. Others than these three: invalid_argument.
  Precision precision = Precision::float32;
  /// Dense and sparse vectors, or one kind; none named: those of the two that the model gives, but of a masked language
  /// model without modules.json only dense ones. A passage keeps the 1,024 largest weights of a sparse vector. Throws
  /// unsupported for a kind that the model does not give.
  EmbeddingKinds kinds = {};
  /// Files and lines of .jsonl that cannot be read are left out, with a warning each; else they end the call.
  bool skip_unreadable = false;
  /// Told of each file's name and how many of all files are done.
  std::function<void(std::string_view file, std::size_t done, std::size_t total)> progress = {};
};

/// What building an index did.
struct IndexReport {
  std::size_t files = 0, chunks = 0;
  std::size_t embedded_files = 0;  // the others' vectors were taken from the index that was there
  std::size_t tokens = 0;          // that the model computed
  std::size_t truncated = 0;       // chunks that were longer than the model takes
  std::size_t skipped_files = 0, skipped_lines = 0;
};

/// Makes `folder` an index of these files, .txt, .md, .html and .jsonl, and of those in folders among `paths`. A line
/// of .jsonl is a text, {"text": ...}; of a page, what a reader sees is. A byte order mark and the encoding that a page
/// states are followed; all else is UTF-8. Files that an index in `folder` has already,
/// made in the same way, are not embedded again; nor are passages that an interrupted call has done. The same files,
/// model and options give the same bytes. Passages go to disk as they are embedded: memory holds some thousand of them,
/// the text of one file, and the names of all files. Throws not_found for a missing path, invalid_argument for other
/// kinds of files, texts that are not UTF-8 and paths without text, unsupported for an encoding that the system does
/// not convert, unavailable for files that cannot be read or written, cancelled, deadline_exceeded.
IndexReport build_index(const EmbeddingPipeline& pipeline, const std::vector<std::filesystem::path>& paths,
                        const std::filesystem::path& folder, const IndexOptions& options = {},
                        const RunControl& control = {});

/// What a search compares. dense: one vector of each passage. sparse: weights of vocabulary entries, by inverted lists;
/// only passages that share an entry with the question are found. hybrid: both, joined by their ranks (reciprocal rank
/// fusion): a passage's score is the sum of 1 / (60 + its rank) over the two lists, of 100 passages or more.
enum class SearchMode : std::uint8_t { dense, sparse, hybrid };
std::string_view to_string(SearchMode mode);
/// The inverse; nothing for an unknown name.
std::optional<SearchMode> parse_search_mode(std::string_view name);

struct SearchOptions {
  std::optional<SearchMode> mode = {};  // absent: all that the index has; others than it has: invalid_argument
  std::size_t top = 10;                 // results
  std::size_t rerank_count = 50;        // passages that a reranker reads, at least `top`
};

struct SearchResult {
  std::size_t id = 0;    // of the passage in the index
  std::string file;      // as the path was given
  std::size_t line = 0;  // where the passage begins, from 1; of .jsonl the text's line
  // Code points and bytes of the file in UTF-8 without a byte order mark; of .jsonl, of the line's text; of .html, of
  // what is read of it.
  std::size_t start = 0, end = 0, byte_start = 0, byte_end = 0;
  std::string text;
  float score =
      0;  // the cosine, of int8 and binary to about 0.001; the dot product, the fused ranks, or the reranker's score
  // Words of the question that are not in every third passage, in code points as start and end.
  std::vector<std::pair<std::size_t, std::size_t>> spans;
};

/// An index that has been opened. Immutable; thread-safe; copies share it.
class SearchIndex {
 public:
  /// The vectors are mapped, not read. Throws not_found where there is no index, corrupt for files that contradict
  /// themselves, unsupported for a later version of the format.
  static SearchIndex open(const std::filesystem::path& folder);

  std::size_t size() const;          // passages
  std::size_t dimensions() const;    // of a dense vector; 0 without them
  Precision precision() const;       // of its numbers in the file
  EmbeddingKinds kinds() const;      // dense, sparse or both
  const std::string& model() const;  // as IndexOptions::model

  /// The passages nearest to the question, the best first; equal ones in the order of the files. All vectors are
  /// compared, as IndexOptions::precision says. Throws invalid_argument where the index was made with another model, or
  /// with other settings of it, than the pipeline's, corrupt if the file was changed meanwhile, and as
  /// EmbeddingPipeline::embed.
  std::vector<SearchResult> search(const EmbeddingPipeline& pipeline, std::string_view question,
                                   const SearchOptions& options = {},
                                   const std::optional<RerankPipeline>& reranker = {},
                                   const RunControl& control = {}) const;

  struct State;
  explicit SearchIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
