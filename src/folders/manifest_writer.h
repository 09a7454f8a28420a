// Writing model_manifest.json of a folder that was made from another model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/file_digests.h"
#include "formats/json.h"

namespace alate::folders {

/// How a folder was made.
struct ModelOrigin {
  std::filesystem::path source;                     // folder of the model that it was made from
  std::vector<std::filesystem::path> source_files;  // files in it whose tensors were read
  std::string command;                              // "quantize"
  formats::Json::Object settings = {};              // of the command
  std::string type;                                 // "embedder"
  std::vector<std::string> capabilities = {};       // "embed", "rerank"
};

/// Writes the manifest of `folder`, whose files are all there. Keys of the source's manifest are kept, unknown ones
/// too, except: `name` is `name`; `files` has all files with sizes and SHA-256 digests; `provenance` says from what
/// model (its name, owner, the digests of the files that were read, its own provenance), by what command and version;
/// `owner` and `variants`, which are statements about the source's files, are left out. `type` and `capabilities` of
/// the source win over those of `origin`. Throws as read_manifest, FileDigests::sha256 and base::write_file_atomically.
void write_manifest(const std::filesystem::path& folder, const std::string& name, const ModelOrigin& origin,
                    const base::FileDigests& digests);

}  // namespace alate::folders
