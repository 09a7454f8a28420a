#include "base/libraries/foreign_mappings.h"

#include <sys/stat.h>

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/files/mapping_guard.h"

namespace alate::base {
namespace {

// A line of proc(5)'s /proc/self/maps: "BEGIN-END rw-p OFFSET DEVICE INODE      PATH".
struct Line {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::string_view path;  // empty for anonymous mappings
};

Line parse(std::string_view text) {
  std::size_t begin = 0, end = 0;
  const char* last = text.data() + text.size();
  const auto dash = std::from_chars(text.data(), last, begin, 16);
  if (dash.ec != std::errc() || dash.ptr == last || *dash.ptr != '-') return {};
  if (std::from_chars(dash.ptr + 1, last, end, 16).ec != std::errc()) return {};
  Line line;
  line.begin = reinterpret_cast<const std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr)
  line.bytes = end - begin;
  if (const std::size_t path = text.find('/'); path != std::string_view::npos) line.path = text.substr(path);
  return line;
}

}  // namespace

struct ForeignMappings::Mapping {
  Mapping(const Line& line, const struct stat& now) : path(line.path), facts(now), guard(line.begin, line.bytes) {}

  // Whether the file still exists under its name, but has changed.
  bool is_changed() const {
    struct stat now {};
    if (::stat(path.c_str(), &now) != 0 || now.st_dev != facts.st_dev || now.st_ino != facts.st_ino) return false;
    return now.st_size < facts.st_size || now.st_mtim.tv_sec != facts.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != facts.st_mtim.tv_nsec;
  }

  std::string path;
  struct stat facts;
  MappingGuard guard;
};

ForeignMappings::ForeignMappings() = default;
ForeignMappings::ForeignMappings(ForeignMappings&& other) noexcept = default;
ForeignMappings& ForeignMappings::operator=(ForeignMappings&& other) noexcept = default;
ForeignMappings::~ForeignMappings() = default;

ForeignMappings::ForeignMappings(const std::filesystem::path& folder) {
  std::error_code error;
  const std::string prefix = std::filesystem::canonical(folder, error).string() + "/";
  if (error) return;
  catch_bus_errors_if_unhandled();
  std::ifstream maps("/proc/self/maps");
  for (std::string text; std::getline(maps, text);) {
    const Line line = parse(text);
    struct stat now {};
    if (line.path.starts_with(prefix) && !is_guarded(line.begin) && ::stat(std::string(line.path).c_str(), &now) == 0)
      mappings_.push_back(std::make_unique<Mapping>(line, now));
  }
}

void ForeignMappings::add(ForeignMappings other) {
  for (std::unique_ptr<Mapping>& each : other.mappings_) mappings_.push_back(std::move(each));
}

void ForeignMappings::require_unchanged() const {
  for (const std::unique_ptr<Mapping>& each : mappings_) {
    if (each->guard.is_broken() || each->is_changed())
      throw make_error(
          ErrorCode::corrupt, each->path,
          " was truncated or changed while it was in use; load the model again, and replace files by rename");
  }
}

}  // namespace alate::base
