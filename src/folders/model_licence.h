// The licence that a model's folder states.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "folders/manifest.h"

namespace alate::folders {

/// The manifest's `license`, else that of the front matter of README.md, the model's card; of a model that comes with
/// the program the one in kBuiltinCredits. At most 200 bytes, without control characters. Empty if none is stated or
/// the file cannot be read.
std::string model_licence(const std::filesystem::path& folder, const Manifest& manifest);

/// The value of `license` in a model card's front matter, lines between two lines "---" at the start: "apache-2.0"; for
/// "other" that of `license_name`. Nothing else of YAML is read: a value on the key's line, in quotes or plain.
std::string licence_of_card(std::string_view card);

}  // namespace alate::folders
