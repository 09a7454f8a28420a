// Where a model's weights come from: tensors by name, whatever files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/files/mapped_file.h"
#include "tensor/encoding.h"

namespace alate::formats {

/// What a file's format did to a weight's values; whoever computes with them undoes it.
struct WeightChange {
  /// Above 0: the rows are those of so many heads, and a head with the rows a₀ … aₖ b₀ … bₖ, whose halves rotary
  /// positions turn together, is stored as a₀ b₀ … aₖ bₖ.
  std::int64_t paired_heads = 0;
  bool has_one_added = false;
};

/// A tensor as it is stored.
struct WeightInfo {
  Shape shape;  // its extents, and the type of its stored elements (u8 where it is stored in blocks)
  std::optional<tensor::EncodingKind> encoding = std::nullopt;  // of ggml's block types; absent: plain elements
  std::uint64_t bytes = 0;                                      // in the file
  WeightChange change = {};
};

/// Adds what tells a file of tensors from others, and from itself after a change.
void add_file(FingerprintBuilder& identity, const base::MappedFile& file);

/// A file that tensors are read from.
struct WeightFile {
  std::filesystem::path path;
  std::span<const std::byte> bytes;  // all of it; valid as long as the source
};

/// A model's stored tensors. Immutable and thread-safe. Tensors keep the bytes that they share alive.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  /// In the order of their bytes in the files.
  virtual std::vector<std::string_view> names() const = 0;
  /// Empty if there is no such tensor.
  virtual std::optional<WeightInfo> info(std::string_view name) const = 0;
  /// The stored elements, or the bytes of the blocks: u8 [..., bytes of a row]. Shares the file's bytes where possible.
  /// Throws not_found, naming the source.
  virtual Tensor tensor(std::string_view name) const = 0;
  /// Identifies the tensor's value without reading it. Throws not_found.
  virtual Fingerprint identity(std::string_view name) const = 0;
  /// Tells the system that this tensor's mapped bytes are not needed soon. Throws not_found.
  virtual void release(std::string_view name) const = 0;
  /// Call it after reading tensors, before using results computed from them. Throws corrupt if a mapped file was
  /// truncated or changed meanwhile.
  virtual void require_unchanged() const = 0;
  virtual std::vector<WeightFile> files() const = 0;

  bool contains(std::string_view name) const { return info(name).has_value(); }
  /// The bytes of all tensors in the files.
  std::uint64_t stored_bytes() const;

 protected:
  WeightSource() = default;
  WeightSource(const WeightSource&) = default;
  WeightSource(WeightSource&&) = default;
  WeightSource& operator=(const WeightSource&) = default;
  WeightSource& operator=(WeightSource&&) = default;
};

/// The weights of a model folder, in the format that the folder has, in one file or several. Throws as
/// FolderWeights::open.
std::shared_ptr<const WeightSource> open_weights(const std::filesystem::path& folder,
                                                 base::MappedFile::Mode mode = base::MappedFile::Mode::map);

}  // namespace alate::formats
