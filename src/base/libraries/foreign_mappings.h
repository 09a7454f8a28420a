// Mappings of files that a library made for itself, guarded as those of MappedFile are.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

namespace alate::base {

/// Of a library's files that may be cut off or changed while it reads them. Movable. To be destroyed before the library
/// unmaps them.
class ForeignMappings {
 public:
  ForeignMappings();
  /// All files in a folder and below it that this process has mapped now, but for mappings that are guarded already.
  /// None on Windows, which does not let a mapped file be cut off.
  explicit ForeignMappings(const std::filesystem::path& folder);
  ForeignMappings(ForeignMappings&& other) noexcept;
  ForeignMappings& operator=(ForeignMappings&& other) noexcept;
  ~ForeignMappings();

  std::size_t size() const { return mappings_.size(); }
  /// Takes over another's.
  void add(ForeignMappings other);
  /// As MappedFile's. Thread-safe.
  void require_unchanged() const;

 private:
  struct Mapping;
  std::vector<std::unique_ptr<Mapping>> mappings_;
};

}  // namespace alate::base
