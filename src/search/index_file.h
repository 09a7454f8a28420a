// The file of an index: a safetensors file with vectors, places and texts of passages.
#pragma once

#include <array>
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

namespace alate::search {

inline constexpr std::string_view kIndexFile = "index.safetensors";

/// Where a passage is.
struct Place {
  std::int64_t file = 0;  // its number
  std::int64_t start = 0, end = 0, byte_start = 0, byte_end = 0;
  std::int64_t line = 0;

  bool operator==(const Place&) const = default;
};

struct FileEntry {
  std::string name;
  std::string sha256;
  std::size_t passages = 0;
};

/// Passages, file by file.
struct Passages {
  std::vector<FileEntry> files;
  std::vector<Place> places;
  std::vector<std::string> texts;
  std::vector<float> vectors;  // [passages, dimensions]

  std::size_t size() const { return places.size(); }
};

/// How the vectors were made.
struct IndexOrigin {
  std::string identity;  // of model, prompts and chunker: what is equal was made in the same way
  std::string model;     // its name
};

/// Writes the file, which appears complete. REQUIRES: there are passages.
void write_index_file(const std::filesystem::path& path, const IndexOrigin& origin, const Passages& passages);

/// An open file. Everything in it has been checked except that texts are UTF-8. Immutable; thread-safe.
class IndexFile {
 public:
  /// Throws not_found, corrupt, and unsupported for another version of the format.
  explicit IndexFile(const std::filesystem::path& path);

  const IndexOrigin& origin() const { return origin_; }
  const std::vector<FileEntry>& files() const { return files_; }
  std::size_t size() const { return places_.size() / kPlaceNumbers; }
  std::size_t dimensions() const { return dimensions_; }
  std::span<const float> vectors() const { return vectors_.values<float>(); }
  Place place(std::size_t passage) const;
  std::string_view text(std::size_t passage) const;
  /// Throws corrupt if the file was changed since it was opened.
  void require_unchanged() const { file_->require_unchanged(); }

  static constexpr std::size_t kPlaceNumbers = 6;

 private:
  void check(const std::string& name) const;

  std::shared_ptr<const formats::SafetensorsFile> file_;
  IndexOrigin origin_;
  std::vector<FileEntry> files_;
  std::size_t dimensions_ = 0;
  Tensor vectors_, place_numbers_, text_ends_, text_bytes_;
  std::span<const std::int64_t> places_, ends_;
};

}  // namespace alate::search
