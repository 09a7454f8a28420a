#include "folders/model_variants.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "folders/manifest.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

// No model has more; a larger folder is not read to the end.
constexpr std::size_t kMostEntries = 10'000;

// Names of files, also of those one folder further down.
void add_names(const fs::path& folder, const std::string& before, std::vector<std::string>& names) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error);
       !error && entries != fs::directory_iterator() && names.size() < kMostEntries; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code unreadable;
    if (name.starts_with('.') || !base::is_plain_file_name(name)) continue;
    if (!entries->is_directory(unreadable)) {
      names.push_back(before + name);
    } else if (before.empty()) {
      add_names(entries->path(), name + "/", names);
    }
  }
}

std::string format_of(std::string_view file) {
  if (file.ends_with(".onnx")) return "onnx";
  if (file.ends_with(".gguf")) return "gguf";
  return file.find("safetensors") == std::string_view::npos ? "pytorch" : "safetensors";
}

// The file of a variant that is opened: the index of parts if it has one, else its first file of weights.
std::string opened_of(const ManifestVariant& variant) {
  const auto is_index = [](const ManifestFile& file) {
    return file.name.find(".index.") != std::string::npos && file.name.ends_with(".json");
  };
  const auto is_weights = [](const ManifestFile& file) {
    return std::ranges::any_of(std::initializer_list<std::string_view>{".safetensors", ".onnx", ".gguf", ".bin"},
                               [&](std::string_view ending) { return file.name.ends_with(ending); });
  };
  auto found = std::ranges::find_if(variant.files, is_index);
  if (found == variant.files.end()) found = std::ranges::find_if(variant.files, is_weights);
  return found == variant.files.end() ? std::string() : found->name;
}

ModelVariant stated(const ManifestVariant& variant) {
  ModelVariant made{.name = variant.name, .format = {}, .file = opened_of(variant), .files = {}};
  made.format = format_of(made.file);
  for (const ManifestFile& file : variant.files) made.files.push_back(file.name);
  std::ranges::sort(made.files);
  return made;
}

Error no_variant(std::string_view model, std::string_view variant, const std::vector<ModelVariant>& variants) {
  std::string there;
  for (const ModelVariant& each : variants) {
    if (!each.name.empty()) there += (there.empty() ? "" : ", ") + formats::quoted_name(each.name);
  }
  return make_error(ErrorCode::not_found, "the model ", formats::quoted_name(model), " has no variant ",
                    formats::quoted_name(variant),
                    there.empty() ? std::string("; it has none: leave it out") : "; there is " + there);
}

}  // namespace

bool is_variant_name(std::string_view text) { return base::is_plain_file_name(text); }

std::vector<ModelVariant> list_variants(const fs::path& folder) {
  const Manifest manifest = read_manifest(folder);
  std::vector<std::string> names;
  add_names(folder, "", names);
  std::vector<ModelVariant> variants;
  for (const ManifestVariant& variant : manifest.variants) {
    if (find_variant(variants, variant.name) == nullptr) variants.push_back(stated(variant));
  }
  const std::size_t of_manifest = variants.size();
  for (ModelVariant& variant : variants_of_names(names)) {
    if (find_variant(std::span(variants).first(of_manifest), variant.name) == nullptr)
      variants.push_back(std::move(variant));
  }
  std::ranges::stable_sort(variants, {}, [](const ModelVariant& each) { return !each.name.empty(); });
  return variants;
}

fs::path variant_file(const fs::path& folder, const ModelVariant& variant, std::string_view model) {
  if (variant.file.empty())
    throw make_error(ErrorCode::corrupt, (folder / "model_manifest.json").string(), ": the variant ",
                     formats::quoted_name(variant.name), " names no file with weights");
  fs::path file = folder / fs::path(variant.file);
  if (!base::is_file(file))
    throw make_error(ErrorCode::not_found, "the variant ", formats::quoted_name(variant.name), " of the model ",
                     formats::quoted_name(model), " needs ", formats::quoted_name(variant.file), ", which is not in ",
                     folder.string());
  base::ContainedFiles(folder).require_file(file);
  return file;
}

fs::path resolve_variant(const fs::path& folder, std::string_view variant, std::string_view model) {
  const std::vector<ModelVariant> variants = list_variants(folder);
  const ModelVariant* found = variant.empty() ? nullptr : find_variant(variants, variant);
  if (found == nullptr) throw no_variant(model, variant, variants);
  return variant_file(folder, *found, model);
}

}  // namespace alate::folders
