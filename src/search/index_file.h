// The file of an index: a safetensors file with vectors, places and texts of passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "formats/safetensors/safetensors.h"
#include "search/sparse_lists.h"
#include "search/vector_table.h"

namespace alate::search {

inline constexpr std::string_view kIndexFile = "index.safetensors";
/// The format that is written, and the one before it, which had no other vectors than float32.
inline constexpr std::string_view kIndexVersion = "2", kFirstIndexVersion = "1";

/// Where a passage is.
struct Place {
  std::int64_t file = 0;  // its number
  std::int64_t start = 0, end = 0, byte_start = 0, byte_end = 0;
  std::int64_t line = 0;

  bool operator==(const Place&) const = default;
};

/// A file, or a part of its passages: in the parts of a job that is under way, a file may begin in one and go on in the
/// next.
struct FileEntry {
  std::string name;
  std::string sha256;
  std::size_t passages = 0;
  std::size_t first = 0;   // the place of the first one among all of the file
  bool continues = false;  // further ones are elsewhere

  bool is_whole() const { return first == 0 && !continues; }
};

/// How the vectors were made.
struct IndexOrigin {
  std::string identity;  // of model, prompts and chunker: what is equal was made in the same way
  std::string model;     // its name
};

/// An open file. Everything in it has been checked except that texts are UTF-8. Immutable; thread-safe.
class IndexFile {
 public:
  /// Throws not_found, corrupt, and unsupported for another version of the format.
  explicit IndexFile(const std::filesystem::path& path);

  const IndexOrigin& origin() const { return origin_; }
  const std::vector<FileEntry>& files() const { return files_; }
  std::size_t size() const { return places_.size() / kPlaceNumbers; }
  /// Of dense vectors; 0 where the index has none.
  std::size_t dimensions() const { return table_.dimensions; }
  const VectorTable& vectors() const { return table_; }
  /// Empty where the index has no sparse vectors, or only empty ones.
  const SparseTable& sparse() const { return sparse_; }
  bool has_dense() const { return table_.dimensions > 0; }
  bool has_sparse() const { return has_sparse_; }
  Place place(std::size_t passage) const;
  std::string_view text(std::size_t passage) const;
  /// The texts of passages [first, first + count) in one piece.
  std::string_view texts(std::size_t first, std::size_t count) const;
  /// Throws corrupt if the file was changed since it was opened.
  void require_unchanged() const { file_->require_unchanged(); }
  /// Lets the system drop the pages that were read; they are read again when they are needed.
  void release() const;

  static constexpr std::size_t kPlaceNumbers = 6;

 private:
  void read_vectors(const std::string& name);
  void read_sparse(const std::string& name);
  void check(const std::string& name) const;

  std::shared_ptr<const formats::SafetensorsFile> file_;
  IndexOrigin origin_;
  std::vector<FileEntry> files_;
  VectorTable table_;
  SparseTable sparse_;
  bool has_sparse_ = false;
  Tensor vectors_, scales_, bits_, terms_, term_ends_, posting_passages_, posting_weights_, place_numbers_, text_ends_,
      text_bytes_;
  std::span<const std::int64_t> places_, ends_;
};

}  // namespace alate::search
