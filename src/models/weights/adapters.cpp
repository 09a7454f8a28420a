#include "models/weights/adapters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "formats/folder_weights.h"
#include "graph/constant.h"
#include "graph/interpreter.h"

namespace alate::models {
namespace {

namespace fs = std::filesystem;
using formats::Json;
using formats::WeightSource;

constexpr std::size_t kMostAdapters = 64;
constexpr std::int64_t kMaxRank = 4096;
constexpr std::size_t kMaxSettingsBytes = std::size_t{1} << 20;
constexpr std::string_view kPeftSettings = "adapter_config.json", kPeftPrefix = "base_model.model.";
constexpr std::string_view kStackedDown = ".parametrizations.weight.0.lora_A",
                           kStackedUp = ".parametrizations.weight.0.lora_B";

Tensor in_float32(const WeightSource& source, std::string_view name) {
  Tensor tensor = source.tensor(name);
  if (tensor.dtype() == DType::f32) return tensor;
  if (!graph::contains(graph::kFloats, tensor.dtype()))
    throw make_error(ErrorCode::corrupt, "the adapter's '", name, "' is ", to_string(tensor.dtype()), ", not floats");
  const Shape shape{DType::f32, tensor.shape().dims};
  return graph::materialize(*graph::make_constant(graph::Op::convert, graph::Convert{.dtype = DType::f32}, shape,
                                                  {graph::make_constant(std::string(name), std::move(tensor))}));
}

std::vector<std::int64_t> extents_of(const Tensor& tensor) {
  std::vector<std::int64_t> extents;
  for (const Dim dim : tensor.shape().dims) extents.push_back(dim.number());
  return extents;
}

Tensor matrix(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  return Tensor::from<float>({rows, columns}, values);
}

Tensor transposed(std::span<const float> values, std::size_t rows, std::size_t columns) {
  std::vector<float> turned(values.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) turned[j * rows + i] = values[i * columns + j];
  }
  return Tensor::from<float>({static_cast<std::int64_t>(columns), static_cast<std::int64_t>(rows)}, turned);
}

Tensor times(const Tensor& tensor, double factor) {
  std::vector<float> values(tensor.values<float>().begin(), tensor.values<float>().end());
  for (float& value : values) value = static_cast<float>(value * factor);
  return Tensor::from<float>(extents_of(tensor), values);
}

// The extents of a module's matrix, as the file has it.
std::vector<std::int64_t> module_extents(const WeightSource& weights, std::string_view prefix,
                                         const std::string& module) {
  for (const std::string& begin : {std::string(), std::string(prefix)}) {
    for (const char* end : {".weight", ".parametrizations.weight.original"}) {
      const auto info = weights.info(begin + module + end);
      if (!info || info->shape.rank() != 2) continue;
      return {info->shape.dims[0].number(), info->shape.dims[1].number()};
    }
  }
  throw make_error(ErrorCode::corrupt, "an adapter is for '", module, "', of which the model has no matrix");
}

[[noreturn]] void refuse_shape(std::string_view name) {
  throw make_error(ErrorCode::corrupt, "the adapter's '", name, "' has a shape that does not fit the model's matrix");
}

// Checks them against the matrix [out, in], or the table [rows, width].
void add_part(Adapter& adapter, std::string module, LowRank part, std::span<const std::int64_t> matrix, bool is_table) {
  const std::vector<std::int64_t> down = extents_of(part.down), up = extents_of(part.up);
  const bool fits = down.size() == 2 && up.size() == 2 && down[is_table ? 1 : 0] == up[1] && up[1] <= kMaxRank &&
                    down[is_table ? 0 : 1] == matrix[is_table ? 0 : 1] && up[0] == matrix[is_table ? 1 : 0];
  if (!fits) refuse_shape(module);
  adapter.insert_or_assign(std::move(module), std::move(part));
}

std::string_view without(std::string_view text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return text;
}

double positive(const Json& json, std::string_view key, double otherwise) {
  const double value = json.get_double(key, otherwise);
  if (!std::isfinite(value) || value <= 0)
    throw make_error(ErrorCode::corrupt, key, " of the adapters must be a number above 0");
  return value;
}

// Of peft's LoraConfig. Throws unsupported for what is computed differently.
double peft_scale(const Json& settings, const std::string& shown) {
  const auto refuse = [&](std::string_view what) {
    throw make_error(ErrorCode::unsupported, shown, ": an adapter with this ", what, " is not built here: ", what);
  };
  const auto is_given = [&](std::string_view key) {
    const Json* value = settings.find(key);
    if (value == nullptr || value->is_null()) return false;
    if (value->is_object()) return !value->as_object(key).empty();
    if (value->is_array()) return !value->as_array(key).empty();
    return !(value->is_bool() && !value->as_bool(key));
  };
  if (settings.get_string("peft_type", "") != "LORA") refuse("peft_type");
  if (settings.get_string("bias", "none") != "none") refuse("bias");
  for (const char* key : {"use_dora", "fan_in_fan_out", "rank_pattern", "alpha_pattern", "modules_to_save",
                          "layer_replication", "lora_bias", "trainable_token_indices", "alora_invocation_tokens"}) {
    if (is_given(key)) refuse(key);
  }
  const double rank = positive(settings, "r", 8);
  return positive(settings, "lora_alpha", 8) / (settings.get_bool("use_rslora", false) ? std::sqrt(rank) : rank);
}

std::vector<std::string> folders_with_peft(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error), end; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (!base::is_plain_file_name(name) || name.starts_with(".") || !base::is_file(entries->path() / kPeftSettings))
      continue;
    if (names.size() == kMostAdapters)
      throw make_error(ErrorCode::corrupt, "the model's folder has more than ", kMostAdapters, " adapters");
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Adapters Adapters::find(const fs::path& folder, const Json& config) {
  Adapters found;
  if (const Json* listed = config.find("lora_adaptations"); listed != nullptr && !listed->is_null()) {
    for (const Json& name : listed->as_array("lora_adaptations"))
      found.stacked_.push_back(name.as_string("lora_adaptations"));
    found.names_ = found.stacked_;
    std::ranges::sort(found.names_);
    if (found.names_.size() > kMostAdapters || std::ranges::adjacent_find(found.names_) != found.names_.end())
      throw make_error(ErrorCode::corrupt, "config.json: lora_adaptations must be at most ", kMostAdapters,
                       " different names");
    found.scale_ = positive(config, "lora_alpha", 1) / positive(config, "lora_rank", 4);
    return found;
  }
  for (const std::string& name : folders_with_peft(folder)) {
    const std::string text =
        base::read_contained_file(folder, name + "/" + std::string(kPeftSettings), kMaxSettingsBytes);
    const std::string shown = name + "/" + std::string(kPeftSettings);
    found.peft_.emplace(name,
                        Peft{.folder = folder / name, .scale = peft_scale(formats::parse_json(text, shown), shown)});
    found.names_.push_back(name);
  }
  return found;
}

Adapter Adapters::load(std::string_view name, const WeightSource& weights, std::string_view prefix) const {
  if (const auto place = std::ranges::find(stacked_, name); place != stacked_.end())
    return stacked(static_cast<std::size_t>(place - stacked_.begin()), weights, prefix);
  if (const auto peft = peft_.find(name); peft != peft_.end()) return of_peft(peft->second, weights, prefix);
  throw make_error(ErrorCode::invalid_argument, "the model has no adapter '", name, "'");
}

// [adapters, rank, in] and [adapters, out, rank]; of a table [adapters, rows, rank] and [adapters, rank, width].
Adapter Adapters::stacked(std::size_t place, const WeightSource& weights, std::string_view prefix) const {
  Adapter adapter;
  for (const std::string_view name : weights.names()) {
    if (!name.ends_with(kStackedDown)) continue;
    const std::string_view stored = name.substr(0, name.size() - kStackedDown.size());
    const std::string up_name = std::string(stored) + std::string(kStackedUp);
    if (!weights.contains(up_name)) throw make_error(ErrorCode::corrupt, "the model's weights lack '", up_name, "'");
    std::string module(without(stored, prefix));
    const std::vector<std::int64_t> matrix_extents = module_extents(weights, prefix, module);
    const Tensor all_down = in_float32(weights, name), all_up = in_float32(weights, up_name);
    const std::vector<std::int64_t> down = extents_of(all_down), up = extents_of(all_up);
    const auto count = static_cast<std::int64_t>(stacked_.size());
    if (down.size() != 3 || up.size() != 3 || down[0] != count || up[0] != count) refuse_shape(name);
    const auto slice = [&](const Tensor& all) {
      const std::size_t size = all.values<float>().size() / stacked_.size();
      return all.values<float>().subspan(place * size, size);
    };
    const bool is_table = module.ends_with("embeddings");
    const Tensor up_part =
        is_table ? transposed(slice(all_up), static_cast<std::size_t>(up[1]), static_cast<std::size_t>(up[2]))
                 : matrix(slice(all_up), up[1], up[2]);
    add_part(adapter, std::move(module), {matrix(slice(all_down), down[1], down[2]), times(up_part, scale_)},
             matrix_extents, is_table);
  }
  return adapter;
}

// MODULE.lora_A.weight [rank, in] and .lora_B.weight [out, rank]; of a table .lora_embedding_A [rank, rows] and
// .lora_embedding_B [width, rank].
Adapter Adapters::of_peft(const Peft& peft, const WeightSource& weights, std::string_view prefix) {
  const fs::path file =
      peft.folder /
      (base::is_file(peft.folder / "adapter_model.safetensors") ? "adapter_model.safetensors" : "adapter_model.bin");
  const base::ContainedFiles contained(peft.folder.parent_path());
  const auto source = formats::open_weight_file(file, base::MappedFile::Mode::read, contained);
  Adapter adapter;
  std::set<std::string, std::less<>> used;
  for (const std::string_view name : source->names()) {
    const bool is_table = name.ends_with(".lora_embedding_A");
    const std::string_view end = is_table ? ".lora_embedding_A" : ".lora_A.weight";
    if (!name.ends_with(end)) continue;
    const std::string_view stored = name.substr(0, name.size() - end.size());
    const std::string up_name = std::string(stored) + (is_table ? ".lora_embedding_B" : ".lora_B.weight");
    if (!source->contains(up_name))
      throw make_error(ErrorCode::corrupt, file.filename().string(), " lacks '", up_name, "'");
    used.emplace(name);
    used.insert(up_name);
    std::string module(without(without(stored, kPeftPrefix), prefix));
    const std::vector<std::int64_t> matrix_extents = module_extents(weights, prefix, module);
    Tensor down = in_float32(*source, name);
    if (const std::vector<std::int64_t> extents = extents_of(down); is_table && extents.size() == 2)
      down =
          transposed(down.values<float>(), static_cast<std::size_t>(extents[0]), static_cast<std::size_t>(extents[1]));
    add_part(adapter, std::move(module), {std::move(down), times(in_float32(*source, up_name), peft.scale)},
             matrix_extents, is_table);
  }
  for (const std::string_view name : source->names()) {
    if (!used.contains(name))
      throw make_error(ErrorCode::unsupported, file.filename().string(), ": '", name,
                       "' is no part of an adapter that is built here: ", name);
  }
  return adapter;
}

}  // namespace alate::models
