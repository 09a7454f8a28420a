// An open GGUF file: header and tensors, mapped and read without copying.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/files/mapped_file.h"
#include "formats/gguf/gguf_header.h"

namespace alate::formats {

/// Immutable once open; thread-safe. What the header names are views of the file, valid as long as this object.
class GgufFile {
 public:
  /// Throws as MappedFile::open and parse_gguf_header. `within` is as in MappedFile::open.
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path,
                                              base::MappedFile::Mode mode = base::MappedFile::Mode::map,
                                              const base::ContainedFiles* within = nullptr);

  const GgufHeader& header() const { return header_; }
  /// The stored bytes of a tensor of this file.
  std::span<const std::byte> bytes(const GgufTensor& tensor) const {
    return file_->bytes().subspan(tensor.begin, tensor.end - tensor.begin);
  }
  const base::MappedFile& file() const { return *file_; }

 private:
  GgufFile() = default;

  std::shared_ptr<const base::MappedFile> file_;
  GgufHeader header_;
};

}  // namespace alate::formats
