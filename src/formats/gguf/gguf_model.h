// A model in GGUF: one file, or the several that a large one is split into.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_file.h"

namespace alate::formats {

/// Immutable once open; thread-safe.
class GgufModel {
 public:
  /// `path` is the file or, of several, the first: NAME-00001-of-0000N.gguf, whose others lie beside it. Throws as
  /// GgufFile::open; not_found for a missing part, invalid_argument for a part that is not the first, corrupt where
  /// the parts do not belong together.
  static std::shared_ptr<const GgufModel> open(const std::filesystem::path& path,
                                               base::MappedFile::Mode mode = base::MappedFile::Mode::map,
                                               const base::ContainedFiles* within = nullptr);

  /// Of the first file, whose metadata are the model's.
  const GgufHeader& header() const { return files_.front()->header(); }
  std::string path() const { return files_.front()->file().path().string(); }
  std::span<const std::shared_ptr<const GgufFile>> files() const { return files_; }

  /// Of the first file that has it. Null if there is no such tensor.
  const GgufTensor* find_tensor(std::string_view name) const;

  // Metadata of the first file. Errors name the file and the key.
  /// Null if there is no such entry.
  const GgufValue* find(std::string_view key) const { return header().find(key); }
  /// Throws corrupt if there is no such entry, or none of this type.
  std::int64_t require_int(const std::string& key) const;
  std::int64_t get_int(const std::string& key, std::int64_t otherwise) const;
  double require_double(const std::string& key) const;
  double get_double(const std::string& key, double otherwise) const;
  std::string get_text(const std::string& key, std::string_view otherwise) const;

 private:
  GgufModel() = default;
  void open_parts(const std::filesystem::path& first, std::uint64_t count, base::MappedFile::Mode mode,
                  const base::ContainedFiles* within);
  const GgufValue& require(const std::string& key) const;

  std::vector<std::shared_ptr<const GgufFile>> files_;
};

}  // namespace alate::formats
