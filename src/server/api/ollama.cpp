#include "server/api/ollama.h"

#include <array>
#include <cstdio>
#include <utility>

#include "server/api/timestamp.h"
#include "server/api/vector_types.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;

std::int64_t count_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// The hexadecimal digits without the algorithm's name.
std::string_view bare_digest(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  return colon == std::string_view::npos ? digest : digest.substr(colon + 1);
}

}  // namespace

std::string parameter_size(std::size_t parameters) {
  if (parameters == 0) return {};
  constexpr std::array<std::pair<double, char>, 3> kUnits = {{{1e9, 'B'}, {1e6, 'M'}, {1e3, 'K'}}};
  for (const auto& [unit, letter] : kUnits) {
    const double number = static_cast<double>(parameters) / unit;
    if (number < 1) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.1f%c", number, letter);
    return text;
  }
  return std::to_string(parameters);
}

std::string ollama_model_of(const Json& body) {
  bool is_given = false;
  for (const char* name : {"model", "name"}) {
    const Json* value = body.find_value(name);
    if (value == nullptr) continue;
    is_given = true;
    if (const std::string& model = value->as_string(name); !model.empty()) return model;
  }
  if (is_given)
    refuse(Problem::Kind::invalid, "model is empty; it must have at least 1 character, or be left out", "model");
  return {};
}

Json ollama_details(const ModelListing& listing) {
  Json::Array families;
  if (!listing.architecture.empty()) families.emplace_back(listing.architecture);
  return Json::Object{{"parent_model", ""},
                      {"format", listing.format},
                      {"family", listing.architecture},
                      {"families", std::move(families)},
                      {"parameter_size", parameter_size(listing.parameters)},
                      {"quantization_level", listing.dtype}};
}

Json ollama_tag(const ModelListing& listing) {
  return Json::Object{{"name", listing.name},
                      {"model", listing.name},
                      {"modified_at", rfc3339(listing.modified)},
                      {"size", count_of(listing.bytes)},
                      {"digest", bare_digest(listing.digest)},
                      {"details", ollama_details(listing)}};
}

Json ollama_process(const ModelListing& listing, const ModelFacts& facts, const OllamaRun& run) {
  // The latest representable time stands for "never".
  const auto expires = run.expires.value_or(std::chrono::system_clock::time_point::max());
  const bool on_processor = facts.backend == "cpu" || facts.backend == "reference" || facts.device.starts_with("cpu");
  return Json::Object{{"name", listing.name},
                      {"model", listing.name},
                      {"size", count_of(run.bytes)},
                      {"digest", bare_digest(listing.digest)},
                      {"details", ollama_details(listing)},
                      {"expires_at", rfc3339(expires)},
                      {"size_vram", on_processor ? std::int64_t{0} : count_of(run.bytes)},
                      {"context_length", count_of(listing.max_length)},
                      {"backend", facts.backend},
                      {"device", facts.device},
                      {"dtype", facts.dtype},
                      {"dtype_reason", facts.dtype_reason},
                      {"fingerprint", to_string(run.fingerprint)},
                      {"queue", Json::Object{{"jobs", count_of(run.queue.jobs)},
                                             {"rows", count_of(run.queue.rows)},
                                             {"tokens", count_of(run.queue.tokens)}}}};
}

std::string ollama_embedding(const EmbedAnswer& answer) {
  std::string out = R"({"embedding":)";
  const std::span<const float> vectors = answer.vectors;
  append_vector(out, answer.rows > 0 ? vectors.first(answer.dimensions) : std::span<const float>());
  return out += '}';
}

}  // namespace alate::server
