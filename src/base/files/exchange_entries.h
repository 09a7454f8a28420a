// Two names that swap what they name, so that readers find either the old or the new, and never nothing.
#pragma once

#include <filesystem>

namespace alate::base {

/// Swaps two entries of one file system in one step; both must exist. False, with errno set, where the system or the
/// file system cannot do it or refuses.
bool exchange_entries(const std::filesystem::path& a, const std::filesystem::path& b) noexcept;

}  // namespace alate::base
