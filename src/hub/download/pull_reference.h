// References to models on a hub.
#pragma once

#include <string>
#include <string_view>

namespace alate::hub {

struct PullReference {
  std::string id;                 // is_repo_id
  std::string revision = "main";  // folders::is_revision
  std::string variant = {};       // may be empty
  std::string file = {};          // a GGUF of the model, whose address the reference is; usually empty
  std::string endpoint = {};      // "https://mirror.example/hf", "file:///srv/mirror"; empty: the usual one
};

/// "hf:owner/name@revision:variant", where the prefix, @revision and :variant may be absent, but the prefix only before
/// a name with its owner; the address of a model, or of a GGUF of one, on huggingface.co; or an address below another
/// server or folder with a hub's layout, ENDPOINT/owner/name. Throws invalid_argument.
PullReference parse_pull_reference(std::string_view text);

/// "file:name" with its whole path, "file:///home/name"; other texts as they are.
std::string with_whole_path(std::string_view reference);

bool is_file_address(std::string_view endpoint);
/// The path in "file:///srv/mirror" or "file:mirror".
std::string file_path(std::string_view address);

}  // namespace alate::hub
