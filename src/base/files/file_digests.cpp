#include "base/files/file_digests.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "base/log.h"
#include "base/sha256.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;

std::string sha256_of(std::span<const std::byte> bytes) { return Sha256().add(bytes).finish(); }

bool is_digest(std::string_view text) {
  return text.size() == kDigits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// A file that no longer exists has no identity, and its digest is not cached.
std::optional<FileIdentity> identity_now(const fs::path& path) {
  try {
    return file_identity(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

fs::path FileDigests::place_of(const FileIdentity& identity) const {
  std::string text;
  for (const std::uint64_t part :
       {identity.device, identity.file, identity.bytes, static_cast<std::uint64_t>(identity.modified_ns),
        static_cast<std::uint64_t>(identity.changed_ns)})
    text += std::to_string(part) + ' ';
  return folder_ / sha256_of(std::as_bytes(std::span(text)));
}

std::optional<std::string> FileDigests::remembered(const FileIdentity& identity) const {
  const fs::path place = folder_.empty() ? fs::path() : place_of(identity);
  std::error_code ignored;
  if (place.empty() || !fs::exists(place, ignored)) return std::nullopt;
  try {
    const std::string text = read_text_file(place, kDigits);
    if (is_digest(text)) return text;
  } catch (const Error& error) {
    log(LogLevel::debug, "a remembered digest cannot be read", {{"reason", error.message()}});
  }
  return std::nullopt;
}

void FileDigests::remember(const FileIdentity& identity, const std::string& digest) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (folder_.empty() || std::chrono::nanoseconds(identity.changed_ns) + settled_ > now) return;
  try {
    std::error_code error;
    fs::create_directories(folder_, error);
    write_file_atomically(place_of(identity), std::as_bytes(std::span(digest)));
    make_room();
  } catch (const Error& error) {
    log(LogLevel::debug, "a digest is not remembered", {{"reason", error.message()}});
  }
}

void FileDigests::make_room() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored))
    all.emplace_back(entry.last_write_time(ignored), entry.path());
  if (all.size() <= kMostRemembered) return;
  std::ranges::sort(all);
  all.resize(all.size() - kMostRemembered / 2);
  for (const auto& [time, path] : all) fs::remove(path, ignored);
}

std::string FileDigests::sha256(std::span<const std::byte> bytes, const fs::path& path,
                                const FileIdentity& identity) const {
  if (std::optional<std::string> known = remembered(identity)) return *known;
  std::string digest = sha256_of(bytes);
  if (identity_now(path) == identity) remember(identity, digest);
  return digest;
}

std::string FileDigests::sha256(const fs::path& path) const {
  const FileIdentity identity = file_identity(path);
  if (std::optional<std::string> known = remembered(identity)) return *known;
  return sha256(MappedFile::open(path)->bytes(), path, identity);
}

}  // namespace alate::base
