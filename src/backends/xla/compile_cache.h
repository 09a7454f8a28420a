// A disk cache of compiled programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "alate/tensor.h"
#include "base/files/private_folder.h"

namespace alate::xla {

/// A folder of programs by fingerprint, for any number of threads and processes at once: entries are renamed into
/// place, so no reader sees half of one, and no lock is needed. Entries that cannot be read or written count as
/// missing, and so do those that another user may have written: programs are machine code. Only fingerprint_of throws,
/// for a file that cannot be read.
class CompileCache {
 public:
  static constexpr std::uintmax_t kBytes = std::uintmax_t{1} << 30;

  /// When the entries exceed `bytes`, the least recently used are deleted.
  explicit CompileCache(std::filesystem::path folder, std::uintmax_t bytes = kBytes)
      : folder_(std::move(folder)), bytes_(bytes) {}

  /// A damaged entry is deleted.
  std::optional<std::string> read(const Fingerprint& key) const;
  void write(const Fingerprint& key, std::string_view program) const;
  void remove(const Fingerprint& key) const;

  /// The fingerprint of a file's bytes; remembered in the folder by the file's path, size and time, so that large
  /// libraries are read once.
  Fingerprint fingerprint_of(const std::filesystem::path& file) const;

 private:
  void trim() const;
  void put(const std::string& name, std::string_view text) const;

  base::PrivateFolder folder_;
  std::uintmax_t bytes_;
};

}  // namespace alate::xla
