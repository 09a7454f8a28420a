#include "hub/download/choose_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "alate/error.h"
#include "base/split_text.h"
#include "folders/variant_names.h"
#include "formats/json.h"
#include "hub/download/file_pattern.h"

namespace alate::hub {
namespace {

using formats::Json;
using Files = std::vector<const RemoteFile*>;
using FilesByName = std::map<std::string_view, const RemoteFile*>;

constexpr std::size_t kMostIndexValues = 2'000'000;

// What a run reads besides weights. A model card has the licence.
constexpr std::array<std::string_view, 12> kSupporting = {
    "*.json",  "vocab.txt", "*merges*.txt", "added_tokens.txt",       "*.model",   "*.tiktoken", "*.jinja",
    "*.vocab", "dict.txt",  "README.md",    "sentence_*_config.json", "labels.txt"};
// JSON files that belong to a format of weights, or to training.
constexpr std::array<std::string_view, 6> kNotSupporting = {"*.index*.json",  "trainer_state.json", "all_results.json",
                                                            "*_results.json", "optimizer*",         "training_args*"};

std::string_view folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash + 1);
}

std::string_view base_of(std::string_view name) { return name.substr(folder_of(name).size()); }

// "1_Pooling": how modules are called.
bool is_module_name(std::string_view name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos && name[digits] == '_';
}

// "query_0_Transformer": modules of a Router's route, after which comes the name of a class.
bool is_route_module_name(std::string_view name) {
  const std::size_t last = name.rfind('_');
  if (last == std::string_view::npos || last + 1 == name.size() || name[last + 1] < 'A' || name[last + 1] > 'Z')
    return false;
  const std::size_t before = name.rfind('_', last - 1);
  return last > 0 && before != std::string_view::npos && is_module_name(name.substr(before + 1));
}

// "1_Pooling/", "query_0_Transformer/", "2_Router/query_0_Dense/": a folder of a module; or the top level.
bool is_module_folder(std::string_view folder) {
  if (folder.empty()) return true;
  const std::vector<std::string_view> parts = base::split_text(folder.substr(0, folder.size() - 1), '/');
  const auto is_module = [](std::string_view part) { return is_module_name(part) || is_route_module_name(part); };
  return parts.size() <= 2 && std::ranges::all_of(parts, is_module);
}

const RemoteFile* find_file(const FilesByName& files, std::string_view name) {
  const auto found = files.find(name);
  return found == files.end() ? nullptr : found->second;
}

// The shards that an index names, with the index.
Files sharded(const FilesByName& by_name, const RemoteFile& index, const ReadRemoteText& read) {
  const Json json = formats::parse_json(
      read(index), index.name, {.max_depth = 16, .max_bytes = kMostListingBytes, .max_values = kMostIndexValues});
  const Json* map = json.find_value("weight_map");
  if (map == nullptr || !map->is_object())
    throw make_error(ErrorCode::corrupt, index.name, " of the model has no \"weight_map\"");
  Files files = {&index};
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->as_object("weight_map")) {
    if (!file.is_string() || !names.insert(file.as_string("weight_map")).second) continue;
    const std::string name = std::string(folder_of(index.name)) + file.as_string("weight_map");
    const RemoteFile* found = find_file(by_name, name);
    if (found == nullptr)
      throw make_error(ErrorCode::corrupt, index.name, " names ", formats::quoted_name(name),
                       ", which the model does not have");
    files.push_back(found);
  }
  return files;
}

// The weights of sentence-transformers' modules, which have no variants. Of a Router's these are all that there are.
Files module_weights(const FilesByName& by_name, const ReadRemoteText& read) {
  Files files;
  std::set<std::string> folders;
  for (const auto& [name, file] : by_name) folders.emplace(folder_of(name));
  for (const std::string& folder : folders) {
    if (folder.empty() || !is_module_folder(folder)) continue;
    const RemoteFile* file = find_file(by_name, folder + "model.safetensors");
    if (file == nullptr) file = find_file(by_name, folder + "pytorch_model.bin");
    if (file != nullptr) {
      files.push_back(file);
      continue;
    }
    const RemoteFile* index = find_file(by_name, folder + "model.safetensors.index.json");
    if (index == nullptr) index = find_file(by_name, folder + "pytorch_model.bin.index.json");
    if (index == nullptr) continue;
    for (const RemoteFile* each : sharded(by_name, *index, read)) files.push_back(each);
  }
  return files;
}

// Adapters of peft, each in a folder of its own.
Files adapters(const FilesByName& by_name) {
  Files files;
  for (const auto& [name, file] : by_name) {
    const std::string folder(folder_of(name));
    if (folder.empty() || folder.find('/') != folder.size() - 1 || base_of(name) != "adapter_config.json") continue;
    files.push_back(file);
    const RemoteFile* weights = find_file(by_name, folder + "adapter_model.safetensors");
    if (weights == nullptr) weights = find_file(by_name, folder + "adapter_model.bin");
    if (weights != nullptr) files.push_back(weights);
  }
  return files;
}

std::vector<folders::ModelVariant> list_variants(const RemoteModel& model) {
  std::vector<std::string> names;
  for (const RemoteFile& file : model.files) names.push_back(file.name);
  return folders::variants_of_names(names);
}

std::string joined(const std::vector<folders::ModelVariant>& variants) {
  constexpr std::size_t kShown = 24;
  std::string text;
  std::size_t count = 0;
  for (const folders::ModelVariant& each : variants) {
    if (each.name.empty() || ++count > kShown) continue;
    text += (text.empty() ? "" : ", ") + formats::quoted_name(each.name);
  }
  return text + (count > kShown ? ", ..." : "");
}

// The variant to take where none was asked for: the one without a name, the only one, or a common type of GGUF.
const folders::ModelVariant& default_variant(const std::vector<folders::ModelVariant>& variants,
                                             const std::string& id) {
  if (variants.empty())
    throw make_error(
        ErrorCode::not_found, id,
        " has no weights as safetensors, pytorch_model.bin, ONNX or GGUF; take other files with --include");
  if (variants.size() == 1) return variants.front();
  for (const char* common : {"", "Q4_K_M", "Q4_0", "Q8_0", "F16"}) {
    if (const folders::ModelVariant* found = folders::find_variant(variants, common)) return *found;
  }
  if (const auto gguf = std::ranges::find(variants, "gguf", &folders::ModelVariant::format); gguf != variants.end())
    return *gguf;
  throw make_error(ErrorCode::invalid_argument, id, " has several variants: name one, ", id, ":VARIANT, of ",
                   joined(variants));
}

Files weights_of(const RemoteModel& model, const std::string& id, const std::string& asked,
                 const ReadRemoteText& read) {
  const std::vector<folders::ModelVariant> variants = list_variants(model);
  FilesByName by_name;
  for (const RemoteFile& file : model.files) by_name.emplace(file.name, &file);
  Files files = module_weights(by_name, read);
  const auto is_of_transformer = [](const RemoteFile* file) { return folder_of(file->name).ends_with("Transformer/"); };
  if (variants.empty() && asked.empty() && std::ranges::any_of(files, is_of_transformer)) return files;
  const folders::ModelVariant* variant =
      asked.empty() ? &default_variant(variants, id) : folders::find_variant(variants, asked);
  if (variant == nullptr) {
    const std::string there = joined(variants);
    throw make_error(ErrorCode::not_found, id, " has no variant ", formats::quoted_name(asked),
                     there.empty() ? "" : "; it has " + there);
  }
  for (const RemoteFile* file : adapters(by_name)) files.push_back(file);
  if (variant->file.find(".index.") != std::string::npos) {
    for (const RemoteFile* file : sharded(by_name, *find_file(by_name, variant->file), read)) files.push_back(file);
  } else if (variant->format == "onnx" || variant->format == "gguf") {
    for (const std::string& name : variant->files) files.push_back(find_file(by_name, name));
  } else {
    files.push_back(find_file(by_name, variant->file));
  }
  return files;
}

// The variant's files that a GGUF belongs to; of a name that says nothing, the file.
Files gguf_files(const RemoteModel& model, const std::string& id, const std::string& name) {
  FilesByName by_name;
  for (const RemoteFile& file : model.files) by_name.emplace(file.name, &file);
  if (find_file(by_name, name) == nullptr)
    throw make_error(ErrorCode::not_found, id, " has no file ", formats::quoted_name(name));
  Files files = {find_file(by_name, name)};
  for (const folders::ModelVariant& variant : list_variants(model)) {
    if (std::ranges::find(variant.files, name) == variant.files.end() || variant.file != name) continue;
    for (const std::string& part : variant.files) files.push_back(find_file(by_name, part));
  }
  return files;
}

}  // namespace

bool is_supporting_file(std::string_view name) {
  if (name == "encoder_config/config.json") return true;  // of a GLiNER2 model
  const std::string_view base = base_of(name);
  const auto matches = [&](std::string_view pattern) { return matches_pattern(base, pattern); };
  return is_module_folder(folder_of(name)) && !base.starts_with('.') && std::ranges::any_of(kSupporting, matches) &&
         std::ranges::none_of(kNotSupporting, matches);
}

std::vector<RemoteFile> choose_files(const RemoteModel& model, const std::string& id, const FileChoice& choice,
                                     const ReadRemoteText& read) {
  std::set<std::string_view> weights;
  if (!choice.file.empty()) {
    for (const RemoteFile* file : gguf_files(model, id, choice.file)) weights.insert(file->name);
  } else if (!choice.all && choice.include.empty()) {
    std::vector<std::string> variants = choice.variants;
    if (variants.empty()) variants.emplace_back();
    for (const std::string& variant : variants) {
      for (const RemoteFile* file : weights_of(model, id, variant, read)) weights.insert(file->name);
    }
  }
  std::vector<RemoteFile> chosen;
  for (const RemoteFile& file : model.files) {
    const bool is_asked =
        choice.all || (choice.include.empty() ? weights.contains(file.name) || is_supporting_file(file.name)
                                              : matches_any(file.name, choice.include));
    if (is_asked && !matches_any(file.name, choice.exclude)) chosen.push_back(file);
  }
  if (chosen.empty()) throw make_error(ErrorCode::not_found, id, " has no file that --include and --exclude leave");
  return chosen;
}

}  // namespace alate::hub
