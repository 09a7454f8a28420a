// Guards for file mappings made by a foreign library, as MappedFile has for its own.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

namespace alate::base {

/// Guards a library's mapped files, which may be truncated or changed while it reads them. Movable. Destroy it before
/// the library unmaps them.
class ForeignMappings {
 public:
  ForeignMappings();
  /// Guards all files in and below a folder that this process has mapped now, except mappings already guarded. None on
  /// Windows, which does not allow truncating a mapped file.
  explicit ForeignMappings(const std::filesystem::path& folder);
  ForeignMappings(ForeignMappings&& other) noexcept;
  ForeignMappings& operator=(ForeignMappings&& other) noexcept;
  ~ForeignMappings();

  std::size_t size() const { return mappings_.size(); }
  /// Takes over another object's mappings.
  void add(ForeignMappings other);
  /// As MappedFile::require_unchanged. Thread-safe.
  void require_unchanged() const;

 private:
  struct Mapping;
  std::vector<std::unique_ptr<Mapping>> mappings_;
};

}  // namespace alate::base
