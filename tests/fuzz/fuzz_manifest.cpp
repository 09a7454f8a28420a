// What a model's folder says in JSON. Any bytes are a manifest whose names stay in the folder and whose session options
// have rules, or refused as corrupt. Any lines are names of files, some of them of variants.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/split_text.h"
#include "folders/manifest.h"
#include "folders/model_licence.h"
#include "folders/variant_names.h"

using namespace alate;

namespace {

// Each line is the name of a file. A variant has one of them, which is among its files, and is found by its name.
void check_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view line : base::split_text(text, '\n')) names.emplace_back(line);
  const std::vector<folders::ModelVariant> variants = folders::variants_of_names(names);
  for (const folders::ModelVariant& each : variants) {
    if (std::ranges::find(names, each.file) == names.end()) std::abort();
    if (std::ranges::find(each.files, each.file) == each.files.end()) std::abort();
    if (folders::find_variant(variants, each.name) != &each) std::abort();
  }
}

// Any text is a model's card: its licence is short and acts on no terminal.
void check_card(std::string_view text) {
  const std::string licence = folders::licence_of_card(text);
  if (licence.size() > 200) std::abort();
  for (const char c : licence) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size < 4096) check_names(text);
  check_card(text);
  folders::Manifest manifest;
  try {
    manifest = folders::parse_manifest(text, "model_manifest.json");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
    return 0;
  }
  for (const folders::ManifestFile& file : manifest.files) {
    if (!base::is_plain_relative_path(file.name)) std::abort();
    if (!file.sha256.empty() && file.sha256.size() != 64) std::abort();
  }
  for (const folders::ManifestVariant& variant : manifest.variants) {
    if (!base::is_plain_file_name(variant.name)) std::abort();
    for (const folders::ManifestFile& file : variant.files) {
      if (!base::is_plain_relative_path(file.name)) std::abort();
    }
  }
  for (const auto& [key, value] : manifest.session_options) {
    // Checked values are as the runtime spells them: checking again changes nothing.
    if (backends::checked_session_option(key, value) != value) std::abort();
  }
  return 0;
}
