#include "base/files/file_presence.h"

#include <string>
#include <system_error>

namespace alate::base {
namespace {

namespace fs = std::filesystem;

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::permission_denied) throw may_not_read(path);
  return status;
}

bool is_visible(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

}  // namespace

bool is_there(const fs::path& path) { return fs::exists(status_of(path)); }

bool is_file(const fs::path& path) { return fs::is_regular_file(status_of(path)); }

void require_listable(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error == std::errc::permission_denied) throw may_not_read(folder);
}

Error may_not_read(const fs::path& path) {
  fs::path refusing = path;
  // The nearest folder that can be seen is the one that may not be searched.
  while (!is_visible(refusing) && refusing.has_relative_path() && refusing.has_parent_path())
    refusing = refusing.parent_path();
  std::error_code ignored;
  const std::string kind = fs::is_directory(refusing, ignored) ? "the folder " : "";
  return make_error(ErrorCode::unavailable, "may not read ", kind, refusing.string(),
                    ": its permissions refuse this user; change them with chmod, or run as its owner");
}

}  // namespace alate::base
