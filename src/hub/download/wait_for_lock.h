// A lock that another process may hold for as long as it downloads.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>

#include "base/files/file_lock.h"

namespace alate::hub {

/// Waits until nobody else holds the lock, and says so in the log. Throws as base::FileLock; cancelled.
std::unique_ptr<base::FileLock> wait_for_lock(const std::filesystem::path& path, const std::stop_token& stop);

}  // namespace alate::hub
