#include "folders/variant_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "base/ascii_case.h"
#include "formats/folder_weights.h"

namespace alate::folders {
namespace {

enum class Role { whole, index, part };

// What the name of a file says.
struct NamedFile {
  std::size_t format = 0;  // its row of kFormats
  std::string folder;      // that it lies in; empty: the model's
  std::string variant;
  Role role = Role::whole;
};

struct Format {
  std::string_view name;
  std::string_view start, ending;  // of the file: "model" … ".safetensors"
};
// The better one first.
constexpr std::array kFormats = std::to_array<Format>({
    {"safetensors", "model", ".safetensors"},
    {"pytorch", "pytorch_model", ".bin"},
    {"onnx", "model", ".onnx"},
});
constexpr std::size_t kOnnx = 2, kGguf = kFormats.size();

std::string_view format_name(std::size_t format) { return format == kGguf ? "gguf" : kFormats.at(format).name; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes "-00001-of-00002" from the end; says which part it is.
std::optional<std::size_t> take_part(std::string_view& stem) {
  const std::size_t number = formats::part_number(stem);
  if (number == 0) return std::nullopt;
  stem = stem.substr(0, stem.rfind("-of-"));
  stem = stem.substr(0, stem.rfind('-'));
  return number;
}

// The variant in what follows a file's usual start: ".int8", "_int8", "-int8" or nothing.
std::optional<std::string> variant_after(std::string_view stem, std::string_view start) {
  if (!stem.starts_with(start)) return std::nullopt;
  stem.remove_prefix(start.size());
  if (stem.empty()) return "";
  constexpr std::string_view kSeparators = "._-";
  if (stem.size() < 2 || kSeparators.find(stem.front()) == std::string_view::npos) return std::nullopt;
  return std::string(stem.substr(1));
}

// "model.safetensors.index.int8.json".
std::optional<NamedFile> index_of(std::string_view file) {
  constexpr std::string_view kIndex = ".index.", kJson = "json";
  for (std::size_t format = 0; format < kOnnx; ++format) {
    const std::string start = std::string(kFormats.at(format).start) + std::string(kFormats.at(format).ending);
    if (!file.starts_with(start + std::string(kIndex)) || !file.ends_with(kJson)) continue;
    std::string_view variant = file.substr(start.size() + kIndex.size());
    variant.remove_suffix(kJson.size());
    if (!variant.empty() && variant.back() != '.') continue;
    return NamedFile{format, "", std::string(variant.substr(0, variant.empty() ? 0 : variant.size() - 1)), Role::index};
  }
  return std::nullopt;
}

std::optional<NamedFile> onnx_of(std::string_view folder, std::string_view file) {
  const std::size_t ending = file.find(kFormats[kOnnx].ending);
  if (ending == std::string_view::npos) return std::nullopt;
  std::optional<std::string> variant = variant_after(file.substr(0, ending), kFormats[kOnnx].start);
  if (!variant) return std::nullopt;
  const bool is_whole = ending + kFormats[kOnnx].ending.size() == file.size();  // else external data
  return NamedFile{kOnnx, std::string(folder), *std::move(variant), is_whole ? Role::whole : Role::part};
}

// Whether a word is the name of a type that ggml's quantizers write: Q4_K_M, IQ2_XXS, TQ1_0, F16, BF16, MXFP4.
bool is_quantization(std::string_view word) {
  const std::string upper = base::ascii_upper(word);
  if (upper == "F16" || upper == "F32" || upper == "FP16" || upper == "FP32" || upper == "BF16") return true;
  if (upper.starts_with("MXFP")) return true;
  for (const std::string_view start : {"Q", "IQ", "TQ"}) {
    if (upper.starts_with(start) && upper.size() > start.size() && is_digit(upper[start.size()])) return true;
  }
  return false;
}

std::string quantization_of(std::string_view stem) {
  const std::size_t dash = stem.find_last_of("-.");
  const std::string_view word = stem.substr(dash == std::string_view::npos ? 0 : dash + 1);
  if (!is_quantization(word)) return std::string(stem);
  const std::string_view before = stem.substr(0, stem.size() - word.size());
  return (before.ends_with("UD-") ? "UD-" : "") + base::ascii_upper(word);
}

std::optional<NamedFile> gguf_of(std::string_view folder, std::string_view file) {
  constexpr std::string_view kEnding = ".gguf";
  if (!file.ends_with(kEnding) || file.size() == kEnding.size() || file.starts_with("mmproj")) return std::nullopt;
  std::string_view stem = file.substr(0, file.size() - kEnding.size());
  const std::size_t part = take_part(stem).value_or(1);
  return NamedFile{kGguf, std::string(folder), quantization_of(stem), part == 1 ? Role::whole : Role::part};
}

std::optional<NamedFile> read_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view folder = slash == std::string_view::npos ? "" : name.substr(0, slash);
  const std::string_view file = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (file.find('/') != std::string_view::npos) return std::nullopt;
  if (auto gguf = gguf_of(folder, file)) return gguf;
  if (folder.empty() || folder == "onnx") {
    if (auto onnx = onnx_of(folder, file)) return onnx;
  }
  if (!folder.empty()) return std::nullopt;
  if (auto index = index_of(file)) return index;
  for (std::size_t format = 0; format < kOnnx; ++format) {
    if (!file.ends_with(kFormats.at(format).ending)) continue;
    std::string_view stem = file.substr(0, file.size() - kFormats.at(format).ending.size());
    const Role role = take_part(stem) ? Role::part : Role::whole;
    if (auto variant = variant_after(stem, kFormats.at(format).start))
      return NamedFile{format, "", *std::move(variant), role};
  }
  return std::nullopt;
}

struct Group {
  std::string whole, index;
  std::vector<std::string> files;
};

bool is_before(const ModelVariant& a, const ModelVariant& b) {
  return std::tuple(!a.name.empty(), base::ascii_lower(a.name)) <
         std::tuple(!b.name.empty(), base::ascii_lower(b.name));
}

}  // namespace

const ModelVariant* find_variant(std::span<const ModelVariant> variants, std::string_view name) {
  const std::string wanted = base::ascii_lower(name);
  const auto found =
      std::ranges::find_if(variants, [&](const ModelVariant& each) { return base::ascii_lower(each.name) == wanted; });
  return found == variants.end() ? nullptr : &*found;
}

std::vector<ModelVariant> variants_of_names(std::span<const std::string> names) {
  // By format, variant in lower case, folder: the order in which the first that is complete is taken.
  std::map<std::tuple<std::size_t, std::string, std::string>, std::pair<std::string, Group>> groups;
  for (const std::string& name : names) {
    const std::optional<NamedFile> read = read_name(name);
    if (!read) continue;
    auto& [variant, group] = groups[{read->format, base::ascii_lower(read->variant), read->folder}];
    if (variant.empty()) variant = read->variant;
    std::string* role = read->role == Role::whole ? &group.whole : read->role == Role::index ? &group.index : nullptr;
    if (role != nullptr && (role->empty() || name < *role)) *role = name;
    group.files.push_back(name);
  }
  std::vector<ModelVariant> variants;
  for (auto& [key, named] : groups) {
    auto& [name, group] = named;
    const std::string& file = group.whole.empty() ? group.index : group.whole;
    if (file.empty()) continue;  // parts without the file that joins them
    if (name.empty() && find_variant(variants, "") != nullptr) name = format_name(std::get<0>(key));
    if (find_variant(variants, name) != nullptr) continue;
    std::ranges::sort(group.files);
    variants.push_back({name, std::string(format_name(std::get<0>(key))), file, std::move(group.files)});
  }
  std::ranges::sort(variants, is_before);
  return variants;
}

}  // namespace alate::folders
