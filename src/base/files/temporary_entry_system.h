// The parts of temporary entries that differ between systems.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/files/temporary_entry.h"

namespace alate::base {

std::uint64_t own_process_number();

/// Creates and locks an entry that must not exist yet. Returns a descriptor of it: of a file for writing; of a folder
/// only where the system locks folders, else -1. False with `errno` on failure: EEXIST if another name has to be tried.
bool create_temporary(const std::filesystem::path& path, EntryKind kind, unsigned mode, int& descriptor);

/// Renames an entry while its lock is held where the system allows that; otherwise closes the descriptor first. False
/// with `errno` on failure.
bool rename_temporary(const std::filesystem::path& from, const std::filesystem::path& to, int& descriptor);

/// Removes the entry that process `process` created, if that process is gone and did not leave it to anyone.
void remove_if_abandoned(const std::filesystem::path& path, EntryKind kind, std::uint64_t process);

}  // namespace alate::base
