// model_manifest.json of a snapshot in huggingface_hub's cache: which files were pulled, from where.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "hub/download/cache_writer.h"
#include "hub/download/remote_model.h"

namespace alate::hub {

/// Writes the manifest of a snapshot whose files are there, unless the model or the user has put one there: name,
/// owner, type and licence as the hub states them, the files of `model` that the snapshot has with sizes and SHA-256
/// digests (a file above 64 MiB that the hub names by another digest has a size only), and `address` and the commit as
/// provenance. The same pull writes the same bytes, so that nothing changes where they are there. Where a manifest
/// could not hold the model's files, there is a warning in the log instead. Throws as CacheWriter; cancelled.
void write_snapshot_manifest(const CacheWriter& writer, const RemoteModel& model, const std::string& address,
                             const std::stop_token& stop);

/// Whether that function has written the snapshot's manifest. Throws as read_manifest.
bool has_snapshot_manifest(const std::filesystem::path& snapshot);

}  // namespace alate::hub
