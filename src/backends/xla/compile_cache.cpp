#include "backends/xla/compile_cache.h"

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/files/least_used.h"
#include "base/files/mapped_file.h"
#include "base/log.h"

namespace alate::xla {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "alate xla 1\n";
constexpr std::string_view kEnding = ".program";
constexpr std::size_t kPrintBytes = 16;
constexpr std::size_t kMaxBytes = std::size_t{4} << 30;  // of a file

std::string text_of(const Fingerprint& print) {
  std::string text(kPrintBytes, '\0');
  std::memcpy(text.data(), &print.low, 8);
  std::memcpy(text.data() + 8, &print.high, 8);
  return text;
}

std::string print_of(std::string_view program) { return text_of(FingerprintBuilder().add(program).finish()); }

std::string name_of(const Fingerprint& key) { return to_string(key) + std::string(kEnding); }

}  // namespace

// Atomic: readers see the whole file or none.
void CompileCache::put(const std::string& name, std::string_view text) const {
  try {
    folder_.write(name, std::as_bytes(std::span(text)));
  } catch (const std::exception& error) {
    base::log(base::LogLevel::debug, "not kept", {{"file", folder_.file(name).string()}, {"reason", error.what()}});
  }
}

std::optional<std::string> CompileCache::read(const Fingerprint& key) const {
  std::optional<std::string> text = folder_.read(name_of(key), kMaxBytes);
  if (!text) return std::nullopt;
  const std::size_t header = kMagic.size() + kPrintBytes;
  if (text->size() < header || !text->starts_with(kMagic) ||
      text->compare(kMagic.size(), kPrintBytes, print_of(std::string_view(*text).substr(header))) != 0) {
    remove(key);
    return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(folder_.file(name_of(key)), fs::file_time_type::clock::now(), ignored);  // marks it as just used
  return text->substr(header);
}

void CompileCache::write(const Fingerprint& key, std::string_view program) const {
  if (program.size() > bytes_) return;
  put(name_of(key), std::string(kMagic) + print_of(program) + std::string(program));
  trim();
}

void CompileCache::remove(const Fingerprint& key) const {
  std::error_code ignored;
  fs::remove(folder_.file(name_of(key)), ignored);
}

void CompileCache::trim() const {
  std::vector<base::CacheEntry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder_.path(), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // deleted by another process
    base::CacheEntry found{
        .path = entry->path(), .used = entry->last_write_time(gone), .bytes = entry->file_size(gone)};
    if (!gone) entries.push_back(std::move(found));
  }
  base::delete_least_used(std::move(entries), bytes_);
}

Fingerprint CompileCache::fingerprint_of(const fs::path& file) const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error).time_since_epoch().count();
  const Fingerprint which = FingerprintBuilder()
                                .add(fs::absolute(file, error).string())
                                .add(std::uint64_t{size})
                                .add(static_cast<std::uint64_t>(time))
                                .finish();
  const std::string kept = to_string(which) + ".library";
  if (const std::optional<std::string> text = folder_.read(kept, kMaxBytes); text && text->size() == kPrintBytes) {
    Fingerprint print;
    std::memcpy(&print.low, text->data(), 8);
    std::memcpy(&print.high, text->data() + 8, 8);
    return print;
  }
  const std::shared_ptr<const base::MappedFile> library = base::MappedFile::open(file);
  const Fingerprint print = FingerprintBuilder().add(library->bytes()).finish();
  library->require_unchanged();
  put(kept, text_of(print));
  return print;
}

}  // namespace alate::xla
