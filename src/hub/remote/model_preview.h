// A model on a server, as a folder that has its small files and the outlines of its large ones: what the code that
// looks at folders says about it is what it will say after the download.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/hub.h"
#include "base/files/temporary_entry.h"

namespace alate::hub {

struct PreviewFile {
  std::string name;
  std::uint64_t bytes = 0;  // 0: not stated
  bool is_pulled = false;   // a pull of this reference would fetch it
};

/// The folder is removed with it.
struct ModelPreview {
  std::string id = {};
  std::string server = {};                 // "https://huggingface.co", or a registry's address
  std::string revision = {}, commit = {};  // as PulledModel's
  std::string gated = {};                  // "auto", "manual"; empty: not, as far as stated
  std::string licence = {};                // as the server states it
  std::vector<PreviewFile> files = {};
  std::filesystem::path model = {};     // the folder, or the file of the reference's variant in it
  bool has_tokenizer = true;            // else it is too large to be looked at
  bool has_weights = true;              // else the headers of the weights could not be read: pickles, no range requests
  std::vector<std::string> notes = {};  // what was not looked at, and why
  std::optional<Error> refusal = {};    // why it could not be pulled: a gated model, a variant that is not there

  std::filesystem::path folder() const;
  std::uint64_t bytes_to_fetch() const;

  std::unique_ptr<base::TemporaryEntry> temporary = {};
};

/// Whether a reference names a model on a server: "hf:", a registry's, or a web address.
bool is_remote_reference(std::string_view reference, std::string_view registry);

/// Looks at the model that pull_model would fetch. Fetched are its list of files, configuration, model card, indexes of
/// shards, a tokenizer of at most a few MiB, and the headers of safetensors; nothing is written but a temporary folder.
/// Throws as pull_model for a model that is not there, the network, and lists that are hostile.
ModelPreview preview_model(std::string_view reference, const PullOptions& options);

}  // namespace alate::hub
