#include "pipelines/model_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "folders/manifest.h"
#include "folders/model_variants.h"
#include "formats/gguf/gguf_file.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "formats/weight_source.h"
#include "models/encoder.h"
#include "models/weights/weight_settings.h"
#include "pipelines/modules/transformer_settings.h"
#include "runtime/loading/gliner_folder.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

// No model has more; a larger folder is not scanned to the end.
constexpr std::size_t kMostFiles = 10'000;
constexpr std::size_t kMostConfigBytes = std::size_t{4} << 20;

std::size_t count_of(const formats::Json& config, std::string_view key) {
  const formats::Json* value = config.find(key);
  if (value == nullptr || !value->is_integer()) return 0;
  return static_cast<std::size_t>(std::max<std::int64_t>(value->as_int(key), 0));
}

// Of the longest row; 0 where the model could not be loaded.
std::size_t positions_of(const runtime::ModelFiles& files, const formats::Json& config) {
  const models::EncoderLimits limits =
      files.is_onnx() ? runtime::limits_of_config(config) : models::find_architecture(config).limits(config);
  return static_cast<std::size_t>(std::max<std::int64_t>(limits.positions, 0));
}

void read_config(const runtime::ModelFiles& files, ModelSummary& summary) {
  const formats::Json config =
      files.is_gguf() || runtime::has_gliner_config(files)
          ? runtime::read_config(files)
          : runtime::with_backbone(
                files, formats::parse_json(base::read_contained_file(files.folder, "config.json", kMostConfigBytes),
                                           "config.json", {.max_values = 1 << 20}));
  if (const formats::Json* type = config.find("model_type"); type != nullptr && type->is_string())
    summary.architecture = type->as_string("model_type");
  summary.dimensions = count_of(config, "hidden_size");
  summary.max_length = count_of(config, "max_position_embeddings");
  // What the loaded model will have (TaskPipelines::max_length).
  summary.max_length = usual_max_length(files.folder, positions_of(files, config));
}

// Whether the tensor describes how another one is quantized (docs/quantization.md).
bool is_of_quantization(const formats::WeightSource& weights, std::string_view name) {
  if (name.ends_with(".smoothing")) return true;
  constexpr std::array<std::string_view, 2> kEnds = {"_scale", "_zero_point"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) {
    return name.ends_with(end) && weights.contains(name.substr(0, name.size() - end.size()));
  });
}

// Numbers in bytes, of which one may hold several.
bool is_packed_weight(const formats::WeightSource& weights, std::string_view name, const Shape& in_file) {
  return in_file.dtype == DType::u8 && weights.contains(std::string(name) + "_scale");
}

// Whether other tools have packed weights into integers, in a layout that is not read here: who counts the others only
// counts next to nothing.
bool is_packed_by_others(std::string_view name, const Shape& in_file) {
  return !is_float(in_file.dtype) && in_file.rank() == 2 && name.find("weight") != std::string_view::npos;
}

std::string type_name(DType dtype) {
  const formats::SafetensorsDType* row = formats::find_safetensors_dtype(dtype);
  return row == nullptr ? base::ascii_upper(to_string(dtype)) : std::string(row->name);
}

// Absent where config.json cannot be read.
models::QuantizationConfig quantization_of(const runtime::ModelFiles& files) {
  try {
    return models::read_quantization(runtime::read_config(files));
  } catch (const Error&) {
    return {};
  }
}

void read_weights(const runtime::ModelFiles& files, ModelSummary& summary) {
  const std::shared_ptr<const formats::WeightSource> weights = runtime::open_weights(files);
  const models::QuantizationConfig quantization = quantization_of(files);
  std::map<std::string, std::size_t> counts;  // of numbers, by the name of their type
  for (const std::string_view name : weights->names()) {
    const formats::WeightInfo info = *weights->info(name);
    const Shape& in_file = info.shape;
    if (info.encoding) {
      counts[base::ascii_upper(tensor::to_string(*info.encoding))] += static_cast<std::size_t>(in_file.element_count());
      continue;
    }
    if (is_of_quantization(*weights, name)) continue;
    const bool is_packed = quantization.is_present && is_packed_weight(*weights, name, in_file);
    const bool is_weight = is_packed || is_float(in_file.dtype) || in_file.dtype == DType::i8;
    if (!is_weight && is_packed_by_others(name, in_file)) return;
    const Shape shape = quantization.shape_of(name, in_file);
    if (is_weight) counts[type_name(shape.dtype)] += static_cast<std::size_t>(shape.element_count());
  }
  std::size_t most = 0;
  for (const auto& [type, count] : counts) {
    summary.parameters += count;
    if (count <= most) continue;
    most = count;
    summary.dtype = type;
  }
}

// Throws as models::find_architecture and models::find_head.
std::string type_by_head(const runtime::ModelFiles& files, const ModelSummary& summary) {
  const formats::Json config = runtime::read_config(files);
  if (!files.is_onnx()) {
    const std::string_view head = models::find_head(models::find_architecture(config), config).name;
    const bool is_pooled = base::is_there(files.home / "modules.json");
    if (models::gives_next_token(head) && !is_pooled && summary.tasks.front() == Task::embed)
      return std::string(model_type(Task::generate));
  }
  return std::string(model_type(summary.tasks.front()));
}

void read_type(const runtime::ModelFiles& files, ModelSummary& summary) {
  summary.type = folders::read_manifest(files.home).type;
  if (summary.type.empty()) summary.type = type_by_head(files, summary);
}

void read_format(const runtime::ModelFiles& files, ModelSummary& summary) {
  if (files.is_gguf()) summary.format = "gguf";
  if (files.is_onnx()) summary.format = "onnx";
}

// Unreadable files leave their fields empty: the folder is still listed, and loading it reports the error.
template <typename Read>
void try_reading(const Read& read, const fs::path& model, ModelSummary& summary) {
  try {
    read(runtime::find_model_files(model), summary);
  } catch (const Error&) {
    return;
  }
}

// A folder that has GGUF files only, which do not run: what the first variant's file says.
void read_gguf(const fs::path& folder, ModelSummary& summary) {
  for (const folders::ModelVariant& variant : folders::list_variants(folder)) {
    if (variant.format != "gguf") continue;
    const base::ContainedFiles contained(folder);
    const auto file = formats::GgufFile::open(folder / fs::path(variant.file), base::MappedFile::Mode::map, &contained);
    const formats::GgufValue* architecture = file->header().find("general.architecture");
    if (architecture != nullptr) summary.architecture = architecture->as_text("general.architecture");
    summary.format = "gguf";
    summary.dtype = variant.name;
    for (const formats::GgufTensor& tensor : file->header().tensors) {
      std::size_t elements = 1;
      for (const std::int64_t extent : tensor.dims) elements *= static_cast<std::size_t>(extent);
      summary.parameters += elements;
    }
    return;
  }
}

}  // namespace

std::vector<FolderFile> files_of_model(const fs::path& folder) {
  std::vector<FolderFile> files;
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
  std::ranges::sort(files, {}, &FolderFile::name);
  return files;
}

ModelSummary summarize_model(const fs::path& model, std::span<const FolderFile> files) {
  ModelSummary summary;
  summary.tasks = tasks_of(model);
  fs::file_time_type latest = fs::file_time_type::min();
  for (const FolderFile& file : files) {
    summary.bytes += file.bytes;
    latest = std::max(latest, file.modified);
  }
  if (!files.empty()) {
    summary.modified =
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(std::chrono::file_clock::to_sys(latest));
  }
  try_reading(read_format, model, summary);
  try_reading(read_config, model, summary);
  try_reading(read_type, model, summary);
  if (is_bare_language_model(model)) summary.tasks = {Task::generate};
  try_reading(read_weights, model, summary);
  if (!summary.architecture.empty() || !summary.dtype.empty()) return summary;
  try {
    read_gguf(model, summary);
  } catch (const Error&) {
    return summary;
  }
  return summary;
}

}  // namespace alate::pipelines
