// A file's bytes in memory: mapped read-only, or read completely where mapping is not wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace alate::base {

class ContainedFiles;

/// Immutable once open; safe to share among threads. The bytes live as long as the object.
class MappedFile {
 public:
  enum class Mode { map, read };

  /// Throws not_found, or unavailable when the file cannot be read or is not a regular file, and as require_own_content
  /// for a file that stands in the place of another (a Git LFS pointer). With `within`, throws as
  /// its require_file before anything is read, and the checked file is the one that is read, even if the folder changes
  /// meanwhile (Linux with /proc; elsewhere the check comes first).
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path, Mode mode = Mode::map,
                                                const ContainedFiles* within = nullptr);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  /// Nanoseconds since the epoch of the last change; part of a tensor's identity.
  std::int64_t modified_ns() const { return modified_ns_; }
  /// Tells the system that these bytes are not needed soon: their pages may be dropped and read again later.
  /// Does nothing when the file was read, not mapped.
  void release(std::span<const std::byte> part) const;

  /// Throws corrupt if the mapped file was truncated or changed in place since it was opened: the bytes read may be
  /// zeros, or a mix of two versions. Call it after reading, before using the results. Does nothing when the file was
  /// read, not mapped, or another file has taken its name. Costs a system call.
  void require_unchanged() const;

 private:
  struct Watch;
  MappedFile() = default;
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::int64_t modified_ns_ = 0;
  bool mapped_ = false;
  std::shared_ptr<Watch> watch_;  // set for mappings, where the system lets others change the file
};

inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;

/// The contents of a small file as text. Throws as `MappedFile::open` does, or
/// resource_exhausted when it is larger than `max_bytes`. `within` is as MappedFile::open's.
std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes = kMaxTextBytes,
                           const ContainedFiles* within = nullptr);

}  // namespace alate::base
