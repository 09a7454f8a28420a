// Whether files are there, as opposed to hidden by permissions.
#pragma once

#include <filesystem>

#include "alate/error.h"

namespace alate::base {

/// Whether something has this name; links are followed. A name that the system rejects, for example for its length,
/// counts as missing. Throws may_not_read where permissions hide the answer.
bool is_there(const std::filesystem::path& path);
/// The same for a regular file.
bool is_file(const std::filesystem::path& path);

/// Throws may_not_read for an existing folder whose entries this process may not list.
void require_listable(const std::filesystem::path& folder);

/// unavailable, naming the file, or the folder on the way to it, whose permissions refuse this process.
Error may_not_read(const std::filesystem::path& path);

}  // namespace alate::base
