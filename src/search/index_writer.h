// Writing the file of an index: a part from memory, or a whole one from parts, in memory that does not grow with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "search/index_file.h"

namespace alate::search {

/// Passages in memory, file by file.
struct Passages {
  std::vector<FileEntry> files;
  std::vector<Place> places;
  std::vector<std::string> texts;
  std::vector<float> vectors;           // [passages, dimensions]; empty without dense ones
  std::vector<SparseEmbedding> sparse;  // of each passage; empty without them

  std::size_t size() const { return places.size(); }
};

/// Passages next to each other in an open index.
struct Segment {
  std::size_t source = 0;            // its place among the sources
  std::size_t first = 0, count = 0;  // in that source
  std::size_t file = 0;              // their file's place among the new index's
};

/// How an index is written.
struct IndexForm {
  IndexOrigin origin;
  Precision precision = Precision::float32;  // of dense vectors: float32, int8 or binary
  EmbeddingKinds kinds = {.dense = true};    // dense, sparse or both
};

/// Whether an index has what one of this form needs: the same bytes as from the model's own vectors.
bool can_take(const IndexFile& index, const IndexForm& form);

/// Writes the file, which appears complete. REQUIRES: there are passages.
void write_index_file(const std::filesystem::path& path, const IndexForm& form, const Passages& passages);

/// Writes an index of segments of others, in their order; the sources are closed before the file appears, since it may
/// replace one of them. Throws corrupt where a source was changed meanwhile. REQUIRES: there are segments; the sources
/// have equal dimensions, and can_take holds of each; files have the passages of their segments.
void join_index_files(const std::filesystem::path& path, const IndexForm& form, const std::vector<FileEntry>& files,
                      std::vector<std::shared_ptr<const IndexFile>> sources, const std::vector<Segment>& segments);

}  // namespace alate::search
