#include "runtime/loading/model_content.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "exchange/onnx_file.h"
#include "folders/builtin_models.h"
#include "formats/json.h"
#include "runtime/loading/compile_cache.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

// Whether the folder is in a place of built-in models, by its path only.
bool came_with_program(const fs::path& folder) {
  const std::vector<fs::path> places = folders::builtin_folders();
  return std::ranges::any_of(
      places, [&](const fs::path& place) { return !folder.filename().empty() && folder.parent_path() == place; });
}

Error wrong(const fs::path& path, const folders::ManifestFile& listed, std::string_view what, const std::string& found,
            const std::string& wanted) {
  return make_error(ErrorCode::corrupt, path.string(), " is not the file ", formats::quoted_name(listed.name),
                    " of model_manifest.json: its ", what, " is ", found, " and must be ", wanted,
                    "; fetch the model again");
}

}  // namespace

base::FileDigests model_digests() {
  const fs::path cache = compile_cache();
  return base::FileDigests(cache.empty() ? cache : cache / "digests");
}

ModelContent::ModelContent(const ModelFiles& files, std::shared_ptr<const formats::WeightSource> weights,
                           const folders::Manifest& manifest)
    : weights_(std::move(weights)), digests_(model_digests()) {
  if (weights_ == nullptr) {  // read by the runtime that executes it
    const exchange::OnnxFiles parts = exchange::check_onnx_file(files.onnx_file);
    add(files.home, parts.model, std::nullopt);
    for (const std::string& name : parts.external) add(files.home, parts.path_of(name), std::nullopt);
  }
  if (weights_ != nullptr) {
    for (const formats::WeightFile& file : weights_->files()) add(files.home, file.path, file.bytes);
  }
  const bool is_trusted = came_with_program(files.home);
  for (const folders::ManifestFile& listed : manifest.files) compare(files.home, listed, is_trusted);
  for (const folders::ManifestVariant& variant : manifest.variants) {
    for (const folders::ManifestFile& listed : variant.files) {
      if (is_loaded(listed.name)) compare(files.home, listed, is_trusted);
    }
  }
  if (weights_ != nullptr) return;
  for (File& file : files_) {
    if (file.digest.empty()) file.digest = digest_of(file);
  }
}

void ModelContent::add(const fs::path& folder, const fs::path& path, std::optional<std::span<const std::byte>> mapped) {
  files_.push_back({.name = path.lexically_relative(folder).generic_string(),
                    .path = path,
                    .identity = base::file_identity(path),
                    .mapped = mapped,
                    .digest = {}});
}

bool ModelContent::is_loaded(std::string_view name) const {
  return std::ranges::find(files_, name, &File::name) != files_.end();
}

void ModelContent::compare(const fs::path& folder, const folders::ManifestFile& listed, bool is_trusted) {
  const fs::path path = folder / listed.name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  base::ContainedFiles(folder).require_file(path);
  const std::uint64_t bytes = base::file_identity(path).bytes;
  if (listed.size && bytes != *listed.size)
    throw wrong(path, listed, "size", std::to_string(bytes), std::to_string(*listed.size));
  if (listed.sha256.empty()) return;
  const auto loaded = std::ranges::find(files_, listed.name, &File::name);
  if (is_trusted) {
    if (loaded != files_.end()) loaded->digest = listed.sha256;
    return;
  }
  if (loaded == files_.end()) {
    if (bytes > kAlwaysChecked || bytes > kMostChecked - checked_) return;
    checked_ += bytes;
  }
  const std::string found = loaded != files_.end() ? digest_of(*loaded) : digests_.sha256(path);
  if (found != listed.sha256) throw wrong(path, listed, "sha256", found, listed.sha256);
  if (loaded != files_.end()) loaded->digest = found;
}

std::string ModelContent::digest_of(const File& file) const {
  if (!file.mapped) return digests_.sha256(file.path);
  return digests_.sha256(*file.mapped, file.path, file.identity);
}

Fingerprint ModelContent::fingerprint() const {
  const std::lock_guard lock(mutex_);
  FingerprintBuilder builder;
  for (File& file : files_) {
    if (file.digest.empty()) file.digest = digest_of(file);
    builder.add(file.name).add(file.digest);
  }
  return builder.finish();
}

}  // namespace alate::runtime
