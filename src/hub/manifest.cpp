#include "hub/manifest.h"

#include "alate/error.h"
#include "base/mapped_file.h"
#include "formats/json.h"

namespace alate::hub {
namespace {

using formats::Json;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

std::string option_text(const std::string& key, const Json& value) {
  if (value.is_string()) return value.as_string(key);
  if (value.is_bool() || value.is_number()) return formats::to_json_text(value);
  throw make_error(ErrorCode::corrupt, "session_options.", key, " is a JSON ", value.kind(),
                   "; it must be text, a number or a boolean");
}

Manifest parse_manifest(const Json& json) {
  Manifest manifest;
  if (!json.is_object()) throw make_error(ErrorCode::corrupt, "it is a JSON ", json.kind(), ", not an object");
  if (const Json* backends = json.find("backends"); backends != nullptr && !backends->is_null()) {
    for (const Json& name : backends->as_array("backends")) manifest.backends.push_back(name.as_string("backends"));
  }
  if (const Json* options = json.find("session_options"); options != nullptr && !options->is_null()) {
    for (const auto& [key, value] : options->as_object("session_options"))
      manifest.session_options.emplace(key, option_text(key, value));
  }
  return manifest;
}

}  // namespace

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model_manifest.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const Json json = formats::parse_json(base::read_text_file(path, kMostBytes), path.string());
  try {
    return parse_manifest(json);
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, path.string(), ": ", error.message());
  }
}

}  // namespace alate::hub
