// Errors of writing files: their code and what to do about them.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

#include "alate/error.h"

namespace alate::base {

/// resource_exhausted for a full disk, otherwise unavailable.
ErrorCode write_error_code(const std::error_code& error);

/// The error for a `name` that could not be written: a file, or a stream ("standard output"). `error` is an `errno`.
Error write_error(std::string_view name, int error);

/// The error for a file that could not be made, written or replaced. Also not_found where its folder does not exist,
/// and invalid_argument where it is a folder itself.
Error file_write_error(const std::filesystem::path& path, int error);

}  // namespace alate::base
