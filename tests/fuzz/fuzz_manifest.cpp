// What a model's folder says in JSON. Any bytes are a manifest whose names stay in the folder and whose session options
// have rules, or refused as corrupt.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "hub/manifest.h"

using namespace alate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hub::Manifest manifest;
  try {
    manifest = hub::parse_manifest(text, "model_manifest.json");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
    return 0;
  }
  for (const hub::ManifestFile& file : manifest.files) {
    if (!base::is_plain_relative_path(file.name)) std::abort();
    if (!file.sha256.empty() && file.sha256.size() != 64) std::abort();
  }
  for (const auto& [key, value] : manifest.session_options) {
    // Checked values are as the runtime spells them: checking again changes nothing.
    if (backends::checked_session_option(key, value) != value) std::abort();
  }
  return 0;
}
