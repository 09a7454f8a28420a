// Making of a mirror: a folder that MirrorSource reads.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "hub/download/remote_model.h"

namespace alate::hub {

/// Copies the files of `model`, which lie in `snapshot`, into the mirror `root`, and lists them there under the model's
/// revision. Files that are there already stay, and so do those that the list has of the same commit. The list is
/// written last: a mirror never names a file that it lacks. Throws cancelled between files, and as MappedFile::open and
/// base::write_file_atomically; corrupt for a list in the mirror that is none.
void write_mirror(const std::filesystem::path& root, const std::string& id, const RemoteModel& model,
                  const std::filesystem::path& snapshot, const std::stop_token& stop);

}  // namespace alate::hub
