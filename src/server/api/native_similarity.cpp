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
#include "server/api/route_schemas.h"
#include "server/api/similarity.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/embed_task.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMostNumbers = std::size_t{1} << 20;  // of an answer

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
          .body = route_schema(Family::native, "similarity_body"),
          .answers = {{.description = "A number for each two texts.",
                       .schema = route_schema(Family::native, "similarity_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/similarity"}};
}

}  // namespace alate::server
