// Jina's route for late interaction. Its other routes are OpenAI's /v1/embeddings and Cohere's /v1/rerank.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/api/family_routes.h"
#include "server/api/route_schemas.h"
#include "server/api/text_inputs.h"
#include "server/api/vector_types.h"
#include "server/exchange/itemized_body.h"
#include "server/exchange/refuse.h"
#include "server/exchange/route.h"
#include "server/models/embed_task.h"

namespace alate::server {
namespace {

// What a request says of its answer.
struct AnswerForm {
  std::string model;  // empty: the model's own name
  std::string type;
  std::int64_t dimensions = 0;  // 0: not given
};

void require_dimensions(const EmbedAnswer& answer, std::int64_t asked) {
  const std::int64_t width = answer.multi_vectors.empty() ? asked : answer.multi_vectors.front().extent(1);
  if (asked != 0 && asked != width)
    refuse(Problem::Kind::impossible,
           "dimensions is " + std::to_string(asked) + ", and the model's vectors of tokens have " +
               std::to_string(width) + " numbers; ask for these, or leave it out",
           "dimensions");
}

ItemizedBody body_of(EmbedAnswer answer, const AnswerForm& form) {
  require_dimensions(answer, form.dimensions);
  ItemizedBody body;
  body.hold(kind_bytes(answer));
  std::string out = R"({"model":)";
  formats::append_json_string(out, form.model.empty() ? std::string_view(answer.model->name) : form.model);
  body.add_text(out += R"(,"object":"list","data":[)");
  for (std::size_t text = 0; text < answer.multi_vectors.size(); ++text) {
    body.add_text((text > 0 ? "," : "") + std::string(R"({"object":"embeddings","index":)") + std::to_string(text) +
                  R"(,"embeddings":[)");
    const Tensor& vectors = answer.multi_vectors[text];
    body.add_list(static_cast<std::size_t>(vectors.extent(0)),
                  [vectors, type = form.type](std::string& row_out, std::size_t row) {
                    const auto width = static_cast<std::size_t>(vectors.extent(1));
                    append_vector_as(row_out, vectors.values<float>().subspan(row * width, width), type);
                  });
    body.add_text("]}");
  }
  const std::string tokens = std::to_string(answer.tokens);
  body.add_text(R"(],"usage":{"prompt_tokens":)" + tokens + R"(,"total_tokens":)" + tokens + "}}");
  return body;
}

void create_multi_vectors(Call& call) {
  EmbedRequest request;
  AnswerForm form{.model = call.body.get_string("model", ""),
                  .type = call.body.get_string("embedding_type", "float"),
                  .dimensions = call.body.get_int("dimensions", 0)};
  request.model = form.model;
  request.kinds = EmbeddingKinds::only(EmbeddingKind::multi_vector);
  request.task = call.body.get_string("input_type", "document");
  read_inputs(*call.body.find("input"), "input", request);
  embed(call, std::move(request),
        [form = std::move(form)](EmbedAnswer answer) { return itemized_response(body_of(std::move(answer), form)); });
}

}  // namespace

std::vector<Route> jina_routes() {
  return {{.method = Method::post,
           .path = "/v1/multi-vector",
           .family = Family::cohere,
           .id = "jinaMultiVector",
           .summary = "Turns texts into a vector for each token, for late interaction",
           .handle = create_multi_vectors,
           .body = route_schema(Family::cohere, "multi_vector_body"),
           .answers = {{.description = "The vectors, in the order of the input",
                        .schema = route_schema(Family::cohere, "multi_vector_answer")}},
           .computes = true}};
}

}  // namespace alate::server
