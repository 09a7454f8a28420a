#include "base/files/write_error.h"

#include <cerrno>
#include <string>

#include "base/files/descriptor_io.h"

namespace alate::base {
namespace {

std::string message_of(int error) { return std::generic_category().message(error); }

}  // namespace

ErrorCode write_error_code(const std::error_code& error) {
  return is_full_disk(error.default_error_condition().value()) ? ErrorCode::resource_exhausted : ErrorCode::unavailable;
}

Error write_error(std::string_view name, int error) {
  const bool is_full = is_full_disk(error);
  return make_error(is_full ? ErrorCode::resource_exhausted : ErrorCode::unavailable, "cannot write ", name, ": ",
                    message_of(error), is_full ? "; make room, or name another place" : "");
}

Error file_write_error(const std::filesystem::path& path, int error) {
  const std::filesystem::path parent = path.parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (error == EISDIR) return make_error(ErrorCode::invalid_argument, path.string(), " is a folder; name a file in it");
  if (error == ENOENT || error == ENOTDIR)
    return make_error(ErrorCode::not_found, "cannot write ", path.string(), ": there is no folder ", folder,
                      "; make it first, or name another place");
  if (error == EACCES || error == EPERM || error == EROFS)
    return make_error(ErrorCode::unavailable, "cannot write ", path.string(), ": no file may be made in the folder ",
                      folder, ": ", message_of(error));
  return write_error(path.string(), error);
}

}  // namespace alate::base
