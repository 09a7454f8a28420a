#include "server/api/native.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding_kinds.h"
#include "formats/little_endian.h"
#include "server/api/timestamp.h"
#include "server/api/vector_types.h"
#include "server/exchange/refuse.h"
#include "server/settings/duration.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::chrono::hours kForEver(24 * 365 * 50);

constexpr std::string_view kOctets = "application/octet-stream";
constexpr std::string_view kJson = "application/json";

// The value of the "q" parameter of a media range; 1 without one.
double quality_of(std::string_view range) {
  for (std::size_t from = range.find(';'); from != std::string_view::npos; from = range.find(';', from)) {
    range.remove_prefix(from + 1);
    while (range.starts_with(' ')) range.remove_prefix(1);
    from = 0;
    if (!range.starts_with("q=") && !range.starts_with("Q=")) continue;
    double quality = 0;
    std::from_chars(range.data() + 2, range.data() + range.size(), quality);
    return quality;
  }
  return 1;
}

std::int64_t count_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// Omits members whose value is unknown.
void add_count(Json::Object& object, std::string_view name, std::size_t count) {
  if (count > 0) object.emplace_back(name, count_of(count));
}

void add_sparse(ItemizedBody& body, std::vector<SparseEmbedding> sparse) {
  const auto rows = std::make_shared<const std::vector<SparseEmbedding>>(std::move(sparse));
  body.add_text(R"(,"sparse_embeddings":[)");
  body.add_list(rows->size(), [rows](std::string& out, std::size_t row) { append_sparse(out, (*rows)[row]); });
  body.add_text("]");
}

void add_multi_vectors(ItemizedBody& body, std::vector<Tensor> texts) {
  body.add_text(R"(,"multi_vectors":[)");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    body.add_text(i == 0 ? "[" : ",[");
    body.add_list(static_cast<std::size_t>(texts[i].extent(0)),
                  [vectors = texts[i]](std::string& out, std::size_t row) {
                    const auto width = static_cast<std::size_t>(vectors.extent(1));
                    append_vector(out, vectors.values<float>().subspan(row * width, width));
                  });
    body.add_text("]");
  }
  body.add_text("]");
}

void add_text(Json::Object& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object.emplace_back(name, text);
}

}  // namespace

ItemizedBody native_embedding_list(EmbedAnswer answer, std::string_view model, Precision precision) {
  const VectorRows vectors = take_vectors(answer);
  ItemizedBody body;
  body.hold(vectors.held_bytes() + kind_bytes(answer));
  std::string out = R"({"model":)";
  formats::append_json_string(out, model.empty() ? std::string_view(answer.model->name) : model);
  body.add_text(out += R"(,"embeddings":[)");
  // Of other kinds there are no vectors, but rows.
  body.add_list(vectors.numbers().empty() ? 0 : vectors.rows(),
                [vectors, precision](std::string& row_out, std::size_t row) {
                  append_vector(row_out, vectors.row(row), precision);
                });
  body.add_text("]");
  if (!answer.sparse.empty()) add_sparse(body, std::move(answer.sparse));
  if (!answer.multi_vectors.empty()) add_multi_vectors(body, std::move(answer.multi_vectors));

  out = R"(,"total_duration":)" + std::to_string(answer.total.count());
  out += R"(,"load_duration":)" + std::to_string(answer.load.count());
  out += R"(,"prompt_eval_count":)" + std::to_string(answer.tokens);
  if (!answer.truncated.empty()) {
    out += R"(,"truncated":[)";
    for (std::size_t i = 0; i < answer.truncated.size(); ++i)
      out += (i > 0 ? "," : "") + std::to_string(answer.truncated[i]);
    out += ']';
  }
  body.add_text(out += '}');
  return body;
}

ItemizedBody embedding_octets(EmbedAnswer answer) {
  const VectorRows vectors = take_vectors(answer);
  ItemizedBody body;
  body.hold(vectors.held_bytes());
  std::string head;
  formats::append_little_endian(head, std::uint64_t{vectors.rows()});
  formats::append_little_endian(head, std::uint64_t{vectors.dimensions()});
  body.add_text(std::move(head));
  body.add_items(vectors.rows(), [vectors](std::string& out, std::size_t row) {
    for (const float number : vectors.row(row))
      formats::append_little_endian(out, std::bit_cast<std::uint32_t>(number));
  });
  return body;
}

bool prefers_octets(std::string_view accept) {
  double octets = 0, json = 0;
  bool octets_first = false;
  while (!accept.empty()) {
    const std::size_t end = std::min(accept.find(','), accept.size());
    const std::string_view range = accept.substr(0, end);
    accept.remove_prefix(std::min(end + 1, accept.size()));
    const std::string type = media_type(range);
    if (type == kOctets) {
      octets = quality_of(range);
      octets_first = json == 0;
    } else if (type == kJson) {
      json = quality_of(range);
    }
  }
  return octets > json || (octets > 0 && octets == json && octets_first);
}

std::optional<std::chrono::nanoseconds> read_keep_alive(const Json& body) {
  const Json* value = body.find("keep_alive");
  if (value == nullptr || value->is_null()) return {};
  std::optional<std::chrono::nanoseconds> duration;
  if (value->is_string()) {
    duration = parse_duration(value->as_string("keep_alive"));
  } else {
    // Well within 64-bit nanoseconds, even when added to the current time.
    const double seconds = std::clamp(value->as_double("keep_alive"), -1.0, 2 * kForEver.count() * 3600.0);
    duration = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  if (!duration)
    refuse(Problem::Kind::invalid,
           "keep_alive is no time span; send seconds as a number, text such as \"5m\", or -1 for as long as the server "
           "allows",
           "keep_alive");
  if (*duration < std::chrono::nanoseconds(0) || *duration >= kForEver) return std::chrono::nanoseconds(-1);
  return duration;
}

Json native_model_list(std::span<const ModelListing> listed, std::span<const LoadedListing> loaded) {
  Json::Array models;
  std::map<pipelines::Task, Json::Array> by_task;
  // Lists that clients of Termite read, empty ones too.
  for (const pipelines::Task task :
       {pipelines::Task::embed, pipelines::Task::rerank, pipelines::Task::classify, pipelines::Task::recognize,
        pipelines::Task::answer, pipelines::Task::fill, pipelines::Task::extract, pipelines::Task::generate})
    by_task[task];
  for (const ModelListing& listing : listed) {
    const auto is_this = [&](const LoadedListing& one) { return one.model->name == listing.name; };
    const auto running = std::ranges::find_if(loaded, is_this);
    Json::Object model{{"name", listing.name}};
    if (!listing.tasks.empty()) {
      add_text(model, "type", pipelines::model_type(listing.tasks.front()));
      Json::Array tasks;
      for (const pipelines::Task task : listing.tasks) {
        tasks.emplace_back(pipelines::to_string(task));
        by_task[task].emplace_back(listing.name);
      }
      model.emplace_back("tasks", std::move(tasks));
    }
    add_text(model, "architecture", listing.architecture);
    add_count(model, "dimensions", listing.dimensions);
    add_count(model, "max_length", listing.max_length);
    add_text(model, "dtype", listing.dtype);
    add_count(model, "parameters", listing.parameters);
    model.emplace_back("size", count_of(listing.bytes));
    model.emplace_back("modified_at", rfc3339(listing.modified));
    model.emplace_back("digest", listing.digest);
    model.emplace_back("loaded", running != loaded.end());
    if (running != loaded.end()) model.emplace_back("backend", running->model->pipelines.facts().backend);
    models.emplace_back(std::move(model));
  }
  Json::Object list{{"models", std::move(models)}};
  for (auto& [task, names] : by_task)
    list.emplace_back(std::string(pipelines::model_type(task)) + "s", std::move(names));
  return list;
}

}  // namespace alate::server
