#include "runtime/loading/model_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/split_text.h"
#include "folders/builtin_models.h"
#include "formats/folder_weights.h"
#include "formats/gguf/gguf_weights.h"
#include "formats/json.h"
#include "runtime/loading/other_weights.h"
#include "tokenizers/sources/load_tokenizer.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

fs::path folder_with(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

// An exporter's onnx/ subfolder has no config of its own.
fs::path folder_of_file(const fs::path& file) {
  const fs::path parent = folder_with(file);
  const bool is_inner = parent.filename() == "onnx" && !base::is_file(parent / "config.json");
  return is_inner && base::is_file(parent.parent_path() / "config.json") ? parent.parent_path() : parent;
}

// Resolves "builtin:NAME" unless a file has this name; returns other paths as they are.
fs::path folder_of_reference(const fs::path& given, const std::string& installed_header) {
  const std::string text = given.string();
  std::error_code ignored;
  if (!text.starts_with(folders::kBuiltinPrefix) || fs::exists(given, ignored)) return given;
  return folders::resolve_builtin_model(text, installed_header);
}

// Whether the folder has this file. Throws for a link out of the folder; only files named by the caller may be links to
// anywhere.
bool is_file_of(const fs::path& folder, const fs::path& file) {
  if (!base::is_file(file)) return false;
  base::ContainedFiles(folder).require_file(file);
  return true;
}

// The file and its external data: model.onnx, model.onnx_data, model.onnx.data.
std::vector<fs::path> files_of(const fs::path& file) {
  std::vector<fs::path> files;
  std::error_code ignored;
  const fs::path folder = folder_with(file);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(file.filename().string())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

bool is_gguf_name(const fs::path& file) { return base::ascii_lower(file.extension().string()) == ".gguf"; }

// No model has more files.
constexpr std::size_t kMostFiles = 10'000;

// The folder's GGUF with the weights of a model, or the first of its parts; nothing where it has none.
std::optional<fs::path> only_gguf(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entries(folder, error);
       !error && entries != fs::directory_iterator() && seen < kMostFiles; entries.increment(error), ++seen) {
    const fs::path& file = entries->path();
    const bool is_other =
        formats::part_number(file.stem().string()) > 1 || file.filename().string().starts_with("mmproj");  // of images
    if (is_gguf_name(file) && !is_other) names.push_back(file.filename().string());
  }
  if (names.empty()) return std::nullopt;
  std::ranges::sort(names);
  if (names.size() > 1)
    throw make_error(ErrorCode::invalid_argument, folder.string(),
                     " has several GGUF files; name one of them, such as ", (folder / names.front()).string());
  return folder / names.front();
}

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

constexpr std::size_t kMostTransformers = 64, kMostRoutedModules = 4096;

// The route of texts without a task, by the rules of pipelines' RouteTable::place_of; empty: the first.
std::string usual_route(const formats::Json& config) {
  const auto named = [](const formats::Json* object, std::string_view key) {
    const formats::Json* name = object == nullptr ? nullptr : object->find(key);
    return name != nullptr && name->is_string() ? name->as_string(key) : std::string();
  };
  const formats::Json* parameters = config.find("parameters");
  const formats::Json* mappings = parameters == nullptr ? nullptr : parameters->find("route_mappings");
  for (const std::string_view key : {"(None, 'text')", "(None, None)"}) {
    if (std::string route = named(mappings, key); !route.empty()) return route;
  }
  return config.find("structure")->find("text") != nullptr ? "text" : named(parameters, "default_route");
}

// The modules of a Router's routes by their ids, those of the usual route first.
std::vector<std::string> routed_modules(const formats::Json& config, const std::string& what) {
  const formats::Json* structure = config.find("structure");
  if (structure == nullptr || !structure->is_object()) return {};
  const std::string usual = usual_route(config);
  std::vector<std::string> ids, others;
  for (const auto& [route, chain] : structure->as_object(what)) {
    if (!chain.is_array()) continue;
    for (const formats::Json& id : chain.as_array(what)) {
      if (id.is_string()) (route == usual ? ids : others).push_back(id.as_string(what));
      if (ids.size() + others.size() > kMostRoutedModules)
        throw make_error(ErrorCode::corrupt, what, " has routes of more than ", kMostRoutedModules, " modules");
    }
  }
  ids.insert(ids.end(), others.begin(), others.end());
  return ids;
}

// The folders of a Router's transformers, each once; the Router's own without any.
std::vector<fs::path> routed_transformers(const fs::path& router) {
  std::vector<fs::path> folders;
  for (const std::string_view name : {"router_config.json", "config.json"}) {
    if (!base::is_there(router / name)) continue;
    const std::string what = (router / name).string();
    const formats::Json config = formats::parse_json(base::read_contained_file(router, name, kMaxBytes), what);
    const formats::Json* types = config.find("types");
    if (types == nullptr || !types->is_object()) break;
    for (const std::string& id : routed_modules(config, what)) {
      const formats::Json* type = types->find(id);
      if (type == nullptr || !type->is_string() || !type->as_string(what).ends_with("Transformer")) continue;
      fs::path folder = module_folder(router, id);
      if (std::ranges::find(folders, folder) != folders.end()) continue;
      if (folders.size() == kMostTransformers)
        throw make_error(ErrorCode::corrupt, what, " has more than ", kMostTransformers, " Transformers");
      folders.push_back(std::move(folder));
    }
    break;
  }
  if (folders.empty()) folders.push_back(router);
  return folders;
}

}  // namespace

std::vector<fs::path> transformer_folders(const fs::path& home) {
  const fs::path list = home / "modules.json";
  if (!base::is_there(list)) return {home};
  const formats::Json modules =
      formats::parse_json(base::read_contained_file(home, "modules.json", kMaxBytes), list.string());
  const formats::Json::Array& entries = modules.as_array(list.string());
  if (entries.empty()) return {home};
  const fs::path folder = module_folder(home, entries.front().get_string("path", ""));
  const std::string type = entries.front().get_string("type", "");
  if (!type.ends_with(".Router") && !type.ends_with(".Asym")) return {folder};
  return routed_transformers(folder);
}

fs::path module_folder(const fs::path& home, const std::string& path) {
  std::string plain;
  for (const std::string_view part : base::split_text(path, '/')) {
    if (!part.empty() && part != ".") plain += (plain.empty() ? "" : "/") + std::string(part);
  }
  if (plain.empty() && !path.starts_with('/')) return home;
  if (path.starts_with('/') || !base::is_plain_relative_path(plain)) {
    throw make_error(ErrorCode::corrupt, (home / "modules.json").string(), ": path ", formats::quoted_name(path),
                     " is no name inside the model's folder");
  }
  base::ContainedFiles(home).require_inside(home / plain);
  return home / plain;
}

bool ModelFiles::is_gguf() const { return is_gguf_name(weights_file); }

fs::path ModelFiles::tokenizer() const {
  return is_gguf() && !tokenizers::has_own_tokenizer(folder) ? weights_file : folder;
}

ModelFiles find_model_files(const fs::path& given, const LoadOptions& options) {
  const fs::path path = folder_of_reference(given, options.installed_header);
  const bool is_given_file = base::is_file(path);  // throws where permissions hide it
  if (path.extension() == ".onnx" && is_given_file) {
    const fs::path folder = folder_of_file(path);
    return {.home = folder, .folder = folder, .onnx_file = path};
  }
  if (is_given_file && (formats::is_weights_name(path.filename().string()) || is_gguf_name(path))) {
    const fs::path folder = folder_of_file(path);
    return {.home = folder, .folder = folder, .onnx_file = {}, .weights_file = path};
  }
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (is_given_file) refuse_weights_file(path);
    throw make_error(ErrorCode::not_found, "'", path.string(),
                     "' is not a folder: name the folder of a model, with config.json and model.safetensors");
  }
  return find_transformer_files(path, transformer_folders(path).front(), options);
}

ModelFiles find_transformer_files(const fs::path& path, const fs::path& folder, const LoadOptions& options) {
  const fs::path& onnx_file = options.onnx_file;
  if (!onnx_file.empty()) {
    if (!base::is_plain_relative_path(onnx_file.generic_string()))
      throw make_error(ErrorCode::invalid_argument, "the ONNX file ", formats::quoted_name(onnx_file.string()),
                       " is not inside the model's folder; name one that is");
    for (const fs::path& file : {folder / onnx_file, folder / "onnx" / onnx_file}) {
      if (is_file_of(path, file)) return {.home = path, .folder = folder, .onnx_file = file};
    }
    throw make_error(ErrorCode::not_found, path.string(), " has no file ", formats::quoted_name(onnx_file.string()));
  }
  const auto is_in_folder = [&](const formats::WeightFormat& format) { return format.is_in(folder); };
  if (std::ranges::any_of(formats::weight_formats(), is_in_folder))
    return {.home = path, .folder = folder, .onnx_file = {}};
  for (const fs::path& file : {folder / "model.onnx", folder / "onnx" / "model.onnx"}) {
    if (is_file_of(path, file)) return {.home = path, .folder = folder, .onnx_file = file};
  }
  if (const std::optional<fs::path> gguf = only_gguf(folder))
    return {.home = path, .folder = folder, .onnx_file = {}, .weights_file = *gguf};
  refuse_other_weights(folder);
  return {.home = path, .folder = folder, .onnx_file = {}};
}

std::shared_ptr<const formats::WeightSource> open_weights(const ModelFiles& files, base::MappedFile::Mode mode) {
  if (files.weights_file.empty()) return formats::open_weights(files.folder, mode);
  if (files.is_gguf()) {
    const base::ContainedFiles contained(folder_with(files.weights_file));
    return formats::GgufWeights::open(files.weights_file, mode, &contained);
  }
  return std::make_shared<formats::FolderWeights>(formats::FolderWeights::open_file(files.weights_file, mode));
}

void require_weights(const ModelFiles& files, std::string_view purpose) {
  if (!files.is_onnx()) return;
  throw make_error(ErrorCode::unsupported, files.onnx_file.string(), " is an ONNX file, and ", purpose,
                   " reads weights; use the model's folder with model.safetensors: ONNX");
}

void require_not_gguf(const ModelFiles& files, std::string_view verb) {
  if (!files.is_gguf()) return;
  throw make_error(ErrorCode::unsupported, files.weights_file.string(), " is a GGUF, which ", verb,
                   " does not take; use the folder of the model with safetensors: GGUF");
}

std::uint64_t onnx_bytes(const fs::path& file) {
  std::uint64_t bytes = 0;
  for (const fs::path& each : files_of(file)) {
    std::error_code missing;
    const std::uintmax_t size = fs::file_size(each, missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

}  // namespace alate::runtime
