#include <system_error>

#include "alate/error.h"
#include "base/files/private_folder.h"

namespace alate::base {

std::string reason_to_distrust(const std::filesystem::path& /*path*/) { return {}; }

void create_owner_writable_folder(const std::filesystem::path& folder, Readers /*readers*/) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw make_error(ErrorCode::unavailable, "cannot make the folder ", folder.string(), ": ", error.message());
}

// A user's profile is already private to that user.
void restrict_to_owner(const std::filesystem::path& /*path*/) {}

}  // namespace alate::base
