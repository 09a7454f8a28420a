#include "base/files/private_folder.h"

#include <set>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "base/log.h"
#include "base/threads/mutex.h"

namespace alate::base {
namespace {

constexpr unsigned kOwnerOnly = 0600;

bool is_first_warning(const std::filesystem::path& path) {
  static Mutex mutex;
  static std::set<std::filesystem::path> warned;
  constexpr std::size_t kMost = 1000;  // bounds the set, since other users may create any number of files
  const std::lock_guard lock(mutex);
  return warned.size() < kMost && warned.insert(path).second;
}

}  // namespace

bool is_trusted(const std::filesystem::path& path) {
  const std::string reason = reason_to_distrust(path);
  if (!reason.empty() && is_first_warning(path))
    log(LogLevel::warn, "what the cache has is not used", {{"path", path.string()}, {"reason", reason}},
        "what the cache has is not used: " + path.string() + ": " + reason);
  return reason.empty();
}

std::optional<std::string> PrivateFolder::read(std::string_view name, std::size_t max_bytes) const {
  const std::filesystem::path path = file(name);
  if (!is_trusted(folder_) || !is_trusted(path)) return std::nullopt;
  try {
    return read_text_file(path, max_bytes);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void PrivateFolder::write(std::string_view name, std::span<const std::byte> bytes) const {
  make();
  write_file_atomically(file(name), bytes, kOwnerOnly);
}

void PrivateFolder::make() const {
  create_owner_writable_folder(folder_, Readers::owner);
  if (!is_trusted(folder_))
    throw make_error(ErrorCode::unavailable, folder_.string(), " is not used: ", reason_to_distrust(folder_));
  restrict_to_owner(folder_);
}

}  // namespace alate::base
