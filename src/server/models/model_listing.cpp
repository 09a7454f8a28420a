#include "server/models/model_listing.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "alate/error.h"
#include "formats/folder_weights.h"
#include "formats/weight_source.h"
#include "pipelines/model_summary.h"
#include "runtime/loading/model_files.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKnown = 10'000;

using pipelines::FolderFile;

std::string sha256_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "sha256:";
  for (unsigned int i = 0; i < size; ++i) {
    out += kDigits[hash[i] >> 4];
    out += kDigits[hash[i] & 15];
  }
  return out;
}

std::string digest_of(const std::vector<FolderFile>& files) {
  std::string text;
  for (const FolderFile& file : files) {
    text += file.name;
    text += '\0';
    text += std::to_string(file.bytes);
    text += ' ';
    text += std::to_string(file.modified.time_since_epoch().count());
    text += '\n';
  }
  return sha256_of(text);
}

std::size_t variant_bytes(const fs::path& file) {
  try {
    const runtime::ModelFiles files = runtime::find_model_files(file);
    return static_cast<std::size_t>(files.is_onnx() ? runtime::onnx_bytes(files.onnx_file)
                                                    : runtime::open_weights(files)->stored_bytes());
  } catch (const Error&) {
    return 0;
  }
}

// A GGUF is all of its model: what lies beside it is none of its own.
std::vector<FolderFile> files_of(const NamedFolder& model) {
  std::vector<FolderFile> files;
  if (model.variant_file.extension() != ".gguf") return pipelines::files_of_model(model.folder);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(model.variant_file, error);
  if (error) return files;
  const fs::file_time_type modified = fs::last_write_time(model.variant_file, error);
  files.push_back({model.variant_file.filename().string(),
                   std::max<std::size_t>(bytes, variant_bytes(model.variant_file)),
                   error ? fs::file_time_type() : modified});
  return files;
}

}  // namespace

std::size_t weight_file_bytes(const fs::path& model) {
  std::error_code ignored;
  if (fs::is_regular_file(model, ignored)) return variant_bytes(model);
  const std::vector<FolderFile> files = pipelines::files_of_model(model);
  std::size_t bytes = 0;
  for (const formats::WeightFormat& format : formats::weight_formats()) {
    const std::string_view extension = format.single.substr(format.single.rfind('.'));
    const bool is_whole =
        std::ranges::any_of(files, [&](const FolderFile& file) { return file.name == format.single; });
    for (const FolderFile& file : files) {
      // Modules after the encoder have files of the same name in their own folders.
      if (is_whole ? fs::path(file.name).filename() == format.single : file.name.ends_with(extension))
        bytes += file.bytes;
    }
    if (bytes > 0) return bytes;
  }
  // An ONNX file and its external data: model.onnx, model.onnx_data, model.onnx.data, in the folder or in onnx/. If
  // there are several, one is loaded.
  for (const FolderFile& file : files) {
    const std::size_t extension = file.name.rfind(".onnx");
    if (extension == std::string::npos || file.name.find('/', extension) != std::string::npos) continue;
    const std::string stem = fs::path(file.name.substr(0, extension)).filename().string();
    if (stem == "model") bytes += file.bytes;
  }
  return bytes;
}

ModelListing ModelListings::of(const NamedFolder& model) {
  const std::vector<FolderFile> files = files_of(model);
  std::string digest = digest_of(files);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(model.path());
    if (found != known_.end() && found->second.digest == digest && found->second.name == model.name)
      return found->second;
  }
  ModelListing listing;
  static_cast<pipelines::ModelSummary&>(listing) = pipelines::summarize_model(model.path(), files);
  listing.name = model.name;
  listing.folder = model.folder;
  listing.path = model.path();
  listing.digest = std::move(digest);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert_or_assign(model.path(), listing);
  return listing;
}

}  // namespace alate::server
