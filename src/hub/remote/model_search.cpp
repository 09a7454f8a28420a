#include "hub/remote/model_search.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/split_text.h"
#include "folders/cache_layout.h"
#include "formats/json.h"
#include "hub/download/retries.h"
#include "hub/download/usual_access.h"
#include "hub/registry/registry_reference.h"
#include "hub/registry/registry_source.h"
#include "models/encoder.h"

namespace alate {
namespace hub {
namespace {

using formats::Json;

constexpr std::size_t kMostFound = 1000;  // in one answer of the hub
constexpr std::size_t kMostWord = 256;

struct KindName {
  std::string_view name, type;  // a pipeline tag of the hub or a type of a registry, and the type here; empty: none
};
// Kinds that run here.
constexpr std::array kKinds = std::to_array<KindName>({
    {"sentence-similarity", "embedder"},
    {"feature-extraction", "embedder"},
    {"text-ranking", "reranker"},
    {"text-classification", "classifier"},
    {"zero-shot-classification", "classifier"},
    {"token-classification", "recognizer"},
    {"question-answering", "answerer"},
    {"fill-mask", "filler"},
    {"embedder", "embedder"},
    {"reranker", "reranker"},
    {"classifier", "classifier"},
    {"recognizer", "recognizer"},
    {"chunker", "chunker"},
});

std::string_view type_of_kind(std::string_view kind) {
  const auto found = std::ranges::find(kKinds, kind, &KindName::name);
  return found == kKinds.end() ? std::string_view() : found->type;
}

// Empty for what is no text, or too long for a word.
std::string word_in(const Json& object, std::string_view key) {
  const Json* value = object.find_value(key);
  if (value == nullptr || !value->is_string() || value->as_string(key).size() > kMostWord) return {};
  return value->as_string(key);
}

std::uint64_t count_in(const Json& object, std::string_view key) {
  const Json* value = object.find_value(key);
  if (value == nullptr || !value->is_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value->as_int(key), 0));
}

// The type of most of a model's weights: {"F32": 22713216, "I64": 512}.
std::string most_used_dtype(const Json* parameters) {
  if (parameters == nullptr || !parameters->is_object()) return {};
  std::string dtype;
  std::int64_t most = 0;
  for (const auto& [name, count] : parameters->as_object("parameters")) {
    if (!count.is_integer() || count.as_int(name) <= most || name.size() > 16) continue;
    most = count.as_int(name);
    dtype = name;
  }
  return dtype;
}

// Whether the architecture that config.json names is one that runs here; nothing where it names none.
std::optional<bool> runs_here(const Json* config) {
  if (config == nullptr || !config->is_object() || word_in(*config, "model_type").empty()) return std::nullopt;
  try {
    (void)models::find_head(models::find_architecture(*config), *config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

FoundModel found_on_hub(const Json& entry, const std::string& what) {
  if (!entry.is_object()) throw make_error(ErrorCode::corrupt, what, ": an entry is no object");
  FoundModel model{.id = entry.get_string("id", entry.get_string("modelId", "")),
                   .task = word_in(entry, "pipeline_tag")};
  if (!folders::is_repo_id(model.id))
    throw make_error(ErrorCode::corrupt, what, ": ", formats::quoted_name(model.id), " is no name of a model");
  model.type = type_of_kind(model.task);
  model.is_other_kind = !model.task.empty() && model.type.empty();
  model.library = word_in(entry, "library_name");
  model.downloads = count_in(entry, "downloads");
  model.gated = word_in(entry, "gated");
  if (const Json* weights = entry.find_value("safetensors"); weights != nullptr && weights->is_object()) {
    model.parameters = count_in(*weights, "total");
    model.dtype = most_used_dtype(weights->find_value("parameters"));
  }
  const Json* config = entry.find_value("config");
  if (config != nullptr && config->is_object()) model.architecture = word_in(*config, "model_type");
  model.runs = runs_here(config);
  return model;
}

std::string hub_target(const ModelSearchOptions& options) {
  // Those of other kinds are left out here.
  const std::size_t asked = options.all_kinds ? options.limit : std::min(kMostFound, 5 * options.limit + 20);
  std::string target = "/api/models?limit=" + std::to_string(std::min(asked, kMostFound)) + "&sort=downloads";
  if (!options.text.empty()) target += "&search=" + percent_encoded(options.text);
  for (const char* field : {"pipeline_tag", "library_name", "downloads", "gated", "config", "safetensors"})
    target += std::string("&expand=") + field;
  return target;
}

PullOptions network_of(const ModelSearchOptions& options) {
  return {.endpoint = options.endpoint,
          .token = options.token,
          .offline = options.offline,
          .registry = options.registry,
          .timeout = options.timeout,
          .retry_delay = options.retry_delay,
          .stop = options.stop};
}

// Leaves out other kinds and what is more than was asked for.
FoundModels taken(std::string place, std::vector<FoundModel> found, const ModelSearchOptions& options) {
  FoundModels out{.place = std::move(place)};
  for (FoundModel& model : found) {
    const bool cannot_run = model.is_other_kind || !model.runs.value_or(true);
    if (cannot_run && !options.all_kinds) {
      ++out.other_kinds;
    } else if (out.models.size() < options.limit) {
      out.models.push_back(std::move(model));
    } else {
      ++out.further;
    }
  }
  return out;
}

}  // namespace

std::vector<FoundModel> parse_hub_search(std::string_view text, const std::string& what) {
  try {
    const Json json = formats::parse_json(
        text, what, {.max_depth = 32, .max_bytes = kMostSearchBytes, .max_values = std::size_t{2} << 20});
    const Json::Array& list = json.as_array(what);
    if (list.size() > kMostFound)
      throw make_error(ErrorCode::resource_exhausted, what, " has ", list.size(), " models, more than were asked for");
    std::vector<FoundModel> found;
    for (const Json& entry : list) found.push_back(found_on_hub(entry, what));
    return found;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw make_error(ErrorCode::corrupt, what, ": ", error.message());
  }
}

FoundModel found_in_registry(const RegistryEntry& entry) {
  FoundModel model{.id = entry.id, .task = entry.type};
  model.type = type_of_kind(entry.type);
  model.description = entry.description;
  model.variants = entry.variants;
  model.bytes = entry.bytes;
  const auto is_of_text = [](const std::string& each) {
    return each != "image" && each != "audio" && each != "multimodal";
  };
  model.is_other_kind = model.type.empty() || !std::ranges::all_of(entry.capabilities, is_of_text);
  return model;
}

bool matches_search(const RegistryEntry& entry, std::string_view text) {
  const std::string all =
      base::ascii_lower(entry.id + "\n" + entry.source + "\n" + entry.type + "\n" + entry.description);
  const std::string words = base::ascii_lower(text);
  return std::ranges::all_of(base::split_text(words, ' '),
                             [&](std::string_view word) { return all.find(word) != std::string::npos; });
}

}  // namespace hub

FoundModels search_models(const ModelSearchOptions& options) {
  using namespace hub;
  const PullOptions network = network_of(options);
  if (is_offline(network))
    throw Error(ErrorCode::unavailable,
                "HF_HUB_OFFLINE or --offline forbids asking which models there are elsewhere; `alate list` shows those "
                "that are here");
  if (options.in_registry || !options.registry.empty()) {
    const RegistrySource source(registry_access_for(registry_address(options.registry), network), 1);
    std::vector<FoundModel> found;
    for (const RegistryEntry& entry : source.index()) {
      if (matches_search(entry, options.text)) found.push_back(found_in_registry(entry));
    }
    return taken(source.address(), std::move(found), options);
  }
  const HubAccess access = access_for({}, network);
  const std::string host = access.endpoint().authority();
  const std::string text = access.read_text(access.url(hub_target(options)), "models", kMostSearchBytes);
  return taken(host, parse_hub_search(text, "the answer of " + host), options);
}

}  // namespace alate
