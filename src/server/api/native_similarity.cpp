#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/embedding.h"
#include "alate/embedding_similarity.h"
#include "alate/tensor.h"
#include "pipelines/embed/similarity_json.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/similarity.h"
#include "server/models/embed_service.h"
#include "server/refuse.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMostNumbers = std::size_t{1} << 20;  // of an answer

constexpr std::string_view kBody = R"({
  "type": "object",
  "properties": {
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /api/models; the default model if absent."},
    "backend": {"type": "string", "maxLength": 64, "description": "Where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "texts": {"type": "array", "items": {"type": "string"}, "description": "Each is compared with each; or give source and sentences."},
    "source": {"type": "string", "description": "Is compared with each of the sentences."},
    "sentences": {"type": "array", "items": {"type": "string"}},
    "truncate": {"type": "boolean", "default": true, "description": "Whether texts over the model's length are cut, or refused."},
    "prompt_name": {"type": "string", "description": "A prompt of the model that is put before each text."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the model stays: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows. From clients that are no administrators only a longer time than the model has counts (X-Keep-Alive-Ignored)."}
  },
  "examples": [{"model": "builtin:minilm", "texts": ["a text", "another"]}, {"source": "a text", "sentences": ["another", "a third"]}]
})";

constexpr std::string_view kAnswer = R"({
  "type": "object",
  "required": ["model", "similarities", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "similarities": {"type": "array", "items": {"type": "array", "items": {"type": "number"}},
      "description": "A row for each text, or one for the source; the cosine, or what the model's folder states."},
    "model": {"type": "string"},
    "total_duration": {"type": "integer", "description": "In nanoseconds."},
    "load_duration": {"type": "integer", "description": "In nanoseconds; 0 where the model was loaded already."},
    "prompt_eval_count": {"type": "integer", "description": "Tokens, special ones included."},
    "truncated": {"type": "array", "items": {"type": "integer"},
      "description": "The indices of texts that were cut, the source being the first; absent when none was."}
  }
})";

// The texts, a source first.
void read_texts(const Json& body, EmbedRequest& request) {
  const Json *texts = body.find_value("texts"), *source = body.find_value("source"),
             *sentences = body.find_value("sentences");
  const bool has_pair = source != nullptr && sentences != nullptr;
  if ((texts != nullptr) == has_pair || (texts != nullptr && (source != nullptr || sentences != nullptr)))
    refuse(Problem::Kind::invalid, "give either texts, or source and sentences", "texts");
  request.parameter = texts != nullptr ? "texts" : "sentences";
  if (source != nullptr) request.texts.push_back(source->as_string("source"));
  for (const Json& text : (texts != nullptr ? texts : sentences)->as_array(request.parameter))
    request.texts.push_back(text.as_string(request.parameter));
  const std::size_t rows = source != nullptr ? 1 : request.texts.size();
  if (rows * request.texts.size() > kMostNumbers)
    refuse(Problem::Kind::too_many,
           request.parameter + " has " + std::to_string(request.texts.size()) + " entries, compared with each other; " +
               "1024 are taken: send fewer, or source and sentences",
           request.parameter);
}

Tensor rows_of(const EmbedAnswer& answer, std::size_t begin, std::size_t end) {
  Tensor rows = Tensor::uninitialized(
      {DType::f32, {static_cast<std::int64_t>(end - begin), static_cast<std::int64_t>(answer.dimensions)}});
  const std::span<const float> values =
      std::span(answer.vectors).subspan(begin * answer.dimensions, (end - begin) * answer.dimensions);
  std::ranges::copy(values, rows.mutable_values<float>().begin());
  return rows;
}

void compare_texts(Call& call) {
  EmbedRequest request;
  request.model = call.body.get_string("model", "");
  const bool has_source = call.body.find_value("source") != nullptr;
  read_texts(call.body, request);
  request.truncate = call.body.get_bool("truncate", true);
  request.prompt_name = call.body.get_string("prompt_name", "");
  request.keep_alive = read_keep_alive(call.body);
  std::string model = request.model;
  embed(call, std::move(request), [has_source, model = std::move(model)](const EmbedAnswer& answer) {
    const Tensor rows = rows_of(answer, 0, has_source ? 1 : answer.rows),
                 columns = rows_of(answer, has_source ? 1 : 0, answer.rows);
    const Similarity by = answer.model->pipelines.embedding().similarity();
    return json_response(pipelines::similarity_json(similarities(rows, columns, by), answer_facts(answer, model)));
  });
}

}  // namespace

Route native_similarity_route() {
  return {.method = Method::post,
          .path = "/api/similarity",
          .family = Family::native,
          .id = "similarity",
          .summary = "Says how alike texts are",
          .handle = compare_texts,
          .body = kBody,
          .answers = {{.description = "A number for each two texts.", .schema = kAnswer}},
          .computes = true,
          .aliases = {"/ai/v1/similarity"}};
}

}  // namespace alate::server
