#include "server/models/model_listing.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "formats/folder_weights.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "formats/weight_source.h"
#include "runtime/loading/model_files.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;

// No model has more; a larger folder is not scanned to the end.
constexpr std::size_t kMostFiles = 10'000;
constexpr std::size_t kMostConfigBytes = std::size_t{4} << 20;
constexpr std::size_t kMostKnown = 10'000;

struct File {
  std::string name;  // relative to the folder
  std::size_t bytes = 0;
  fs::file_time_type modified;
};

// All files, sorted by name, except those with a path component that begins with a dot.
std::vector<File> files_of(const fs::path& folder) {
  std::vector<File> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator() && files.size() < kMostFiles;
       entries.increment(error)) {
    std::error_code unreadable;
    const fs::path& path = entries->path();
    if (path.filename().string().starts_with('.')) {
      if (entries->is_directory(unreadable)) entries.disable_recursion_pending();
      continue;
    }
    if (!entries->is_regular_file(unreadable)) continue;
    const std::uintmax_t bytes = entries->file_size(unreadable);
    const fs::file_time_type modified = unreadable ? fs::file_time_type() : entries->last_write_time(unreadable);
    if (!unreadable)
      files.push_back({path.lexically_relative(folder).generic_string(), static_cast<std::size_t>(bytes), modified});
  }
  std::ranges::sort(files, {}, &File::name);
  return files;
}

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

std::string digest_of(const std::vector<File>& files) {
  std::string text;
  for (const File& file : files) {
    text += file.name;
    text += '\0';
    text += std::to_string(file.bytes);
    text += ' ';
    text += std::to_string(file.modified.time_since_epoch().count());
    text += '\n';
  }
  return sha256_of(text);
}

std::size_t count_of(const formats::Json& config, std::string_view key) {
  const formats::Json* value = config.find(key);
  if (value == nullptr || !value->is_integer()) return 0;
  return static_cast<std::size_t>(std::max<std::int64_t>(value->as_int(key), 0));
}

void read_config(const runtime::ModelFiles& files, ModelListing& listing) {
  const formats::Json config = formats::parse_json(
      base::read_contained_file(files.folder, "config.json", kMostConfigBytes), "config.json", {.max_values = 1 << 20});
  if (const formats::Json* type = config.find("model_type"); type != nullptr && type->is_string())
    listing.architecture = type->as_string("model_type");
  listing.dimensions = count_of(config, "hidden_size");
  listing.max_length = count_of(config, "max_position_embeddings");
}

// Whether the tensor describes how another one is quantized, as written by `alate quantize` (docs/quantization.md).
bool is_of_quantization(const formats::WeightSource& weights, std::string_view name) {
  constexpr std::string_view kScale = "_scale";
  return name.ends_with(".smoothing") ||
         (name.ends_with(kScale) && weights.contains(name.substr(0, name.size() - kScale.size())));
}

void read_weights(const runtime::ModelFiles& files, ModelListing& listing) {
  const std::shared_ptr<const formats::WeightSource> weights = runtime::open_weights(files);
  std::map<DType, std::size_t> counts;
  for (const std::string_view name : weights->names()) {
    const Shape shape = weights->info(name)->shape;
    const bool is_weight = is_float(shape.dtype) || shape.dtype == DType::i8;
    if (is_weight && !is_of_quantization(*weights, name))
      counts[shape.dtype] += static_cast<std::size_t>(shape.element_count());
  }
  std::size_t most = 0;
  for (const auto& [dtype, count] : counts) {
    listing.parameters += count;
    if (count <= most) continue;
    most = count;
    const formats::SafetensorsDType* row = formats::find_safetensors_dtype(dtype);
    listing.dtype = row == nullptr ? std::string() : std::string(row->name);
  }
}

// Unreadable files leave their fields empty: the folder is still listed, and loading it reports the error.
template <typename Read>
void try_reading(const Read& read, const fs::path& model, ModelListing& listing) {
  try {
    read(runtime::find_model_files(model), listing);
  } catch (const Error&) {
    return;
  }
}

ModelListing read_listing(const NamedFolder& model, const std::vector<File>& files, std::string digest) {
  ModelListing listing;
  listing.name = model.name;
  listing.folder = model.folder;
  listing.digest = std::move(digest);
  listing.tasks = pipelines::tasks_of(model.path());
  fs::file_time_type latest = fs::file_time_type::min();
  for (const File& file : files) {
    listing.bytes += file.bytes;
    latest = std::max(latest, file.modified);
  }
  if (!files.empty()) {
    listing.modified =
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(std::chrono::file_clock::to_sys(latest));
  }
  try_reading(read_config, model.path(), listing);
  try_reading(read_weights, model.path(), listing);
  return listing;
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

}  // namespace

std::size_t weight_file_bytes(const fs::path& model) {
  std::error_code ignored;
  if (fs::is_regular_file(model, ignored)) return variant_bytes(model);
  const std::vector<File> files = files_of(model);
  std::size_t bytes = 0;
  for (const formats::WeightFormat& format : formats::weight_formats()) {
    const std::string_view extension = format.single.substr(format.single.rfind('.'));
    const bool is_whole = std::ranges::any_of(files, [&](const File& file) { return file.name == format.single; });
    for (const File& file : files) {
      // Modules after the encoder have files of the same name in their own folders.
      if (is_whole ? fs::path(file.name).filename() == format.single : file.name.ends_with(extension))
        bytes += file.bytes;
    }
    if (bytes > 0) return bytes;
  }
  // An ONNX file and its external data: model.onnx, model.onnx_data, model.onnx.data, in the folder or in onnx/. If
  // there are several, one is loaded.
  for (const File& file : files) {
    const std::size_t extension = file.name.rfind(".onnx");
    if (extension == std::string::npos || file.name.find('/', extension) != std::string::npos) continue;
    const std::string stem = fs::path(file.name.substr(0, extension)).filename().string();
    if (stem == "model") bytes += file.bytes;
  }
  return bytes;
}

ModelListing ModelListings::of(const NamedFolder& model) {
  const std::vector<File> files = files_of(model.folder);
  std::string digest = digest_of(files);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(model.folder);
    if (found != known_.end() && found->second.digest == digest && found->second.name == model.name)
      return found->second;
  }
  ModelListing listing = read_listing(model, files, std::move(digest));
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert_or_assign(model.folder, listing);
  return listing;
}

}  // namespace alate::server
