#include <algorithm>
#include <utility>

#include "server/api/cohere.h"
#include "server/api/family_routes.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/exchange/refuse.h"
#include "server/models/embed_task.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

std::string text_of(const Json& input, std::size_t index) {
  const std::string place = "inputs[" + std::to_string(index) + "].content";
  const Json::Array& content = input.find("content")->as_array(place);
  if (content.size() != 1) {
    refuse(Problem::Kind::unsupported,
           place + " has " + std::to_string(content.size()) + " parts; inputs of one text part are supported",
           "inputs");
  }
  const Json* text = content.front().find("text");
  if (content.front().get_string("type", "") != "text") {
    refuse(Problem::Kind::unsupported, place + "[0] is no text; only parts of the type text are supported", "inputs");
  }
  if (text == nullptr || text->is_null()) refuse(Problem::Kind::invalid, place + "[0] has no text", "inputs");
  return text->as_string(place);
}

std::vector<std::string> texts_of(const Json& body) {
  if (body.find_value("images") != nullptr) {
    refuse(Problem::Kind::unsupported, "images are not supported; only texts are", "images");
  }
  const Json *texts = body.find_value("texts"), *inputs = body.find_value("inputs");
  if ((texts == nullptr) == (inputs == nullptr)) {
    refuse(Problem::Kind::invalid,
           texts == nullptr ? "texts is missing: give texts or inputs" : "both texts and inputs are given: give one",
           "texts");
  }
  std::vector<std::string> result;
  if (texts != nullptr) {
    for (const Json& text : texts->as_array("texts")) result.push_back(text.as_string("texts"));
    return result;
  }
  const Json::Array& list = inputs->as_array("inputs");
  for (std::size_t i = 0; i < list.size(); ++i) result.push_back(text_of(list[i], i));
  return result;
}

// Names that sentence-transformers models give the prompts for these purposes.
std::vector<std::string> prompts_for(std::string_view input_type) {
  if (input_type == "search_query") return {"search_query", "query"};
  if (input_type == "search_document") return {"search_document", "document", "passage"};
  if (input_type == "image") refuse(Problem::Kind::unsupported, "input_type image is not supported", "input_type");
  return {std::string(input_type)};
}

std::vector<std::string> types_of(const Json& body) {
  std::vector<std::string> types;
  if (const Json* given = body.find_value("embedding_types")) {
    for (const Json& type : given->as_array("embedding_types")) {
      const std::string& name = type.as_string("embedding_types");
      if (std::ranges::find(types, name) == types.end()) types.push_back(name);
    }
  }
  if (types.empty()) types.emplace_back("float");
  return types;
}

ItemizedBody body_of(EmbedAnswer answer, const std::vector<std::string>& types, std::vector<std::string> texts) {
  const VectorRows vectors = take_vectors(answer);
  ItemizedBody body;
  body.hold(vectors.held_bytes());
  body.add_text(R"({"id":")" + random_uuid() + R"(","embeddings":{)");
  for (std::size_t i = 0; i < types.size(); ++i) {
    body.add_text((i > 0 ? ",\"" : "\"") + types[i] + "\":");
    add_cohere_embeddings(body, vectors, types[i]);
  }
  body.add_text(R"(},"texts":[)");
  for (const std::string& text : texts) body.hold(sizeof(std::string) + text.capacity());
  const std::size_t count = texts.size();
  body.add_list(count, [kept = std::move(texts)](std::string& out, std::size_t index) {
    formats::append_json_string(out, kept[index]);
  });
  std::string out = R"(],"meta":{"api_version":{"version":"2"},"billed_units":{"input_tokens":)" +
                    std::to_string(answer.tokens) + '}';
  if (!answer.truncated.empty())
    out += R"(,"warnings":[")" + std::to_string(answer.truncated.size()) + R"( of the texts were cut"])";
  body.add_text(out += R"(},"response_type":"embeddings_by_type"})");
  return body;
}

void embed_by_type(Call& call) {
  if (call.body.find_value("max_tokens") != nullptr) {
    refuse(Problem::Kind::unsupported, "max_tokens is not supported: texts are cut at the model's length; leave it out",
           "max_tokens");
  }
  EmbedRequest request;
  request.model = call.body.get_string("model", "");
  request.parameter = "texts";
  request.texts = texts_of(call.body);
  if (const std::string type = call.body.get_string("input_type", ""); !type.empty())
    request.prompt_names = prompts_for(type);
  const std::string truncate = call.body.get_string("truncate", "END");
  request.truncate = truncate != "NONE";
  request.truncation_side = truncate == "START" ? Side::left : Side::right;
  if (const Json* dimensions = call.body.find_value("output_dimension"))
    request.dimensions = static_cast<std::size_t>(dimensions->as_int("output_dimension"));
  const std::vector<std::string> texts = request.texts;
  embed(call, std::move(request), [types = types_of(call.body), texts](EmbedAnswer answer) {
    return itemized_response(body_of(std::move(answer), types, texts));
  });
}

}  // namespace

std::vector<Route> cohere_routes() {
  std::vector<Route> routes = cohere_rerank_routes();
  routes.insert(routes.begin(), {.method = Method::post,
                                 .path = "/v2/embed",
                                 .family = Family::cohere,
                                 .id = "cohereEmbed",
                                 .summary = "Turns texts into vectors of several number types",
                                 .handle = embed_by_type,
                                 .body = route_schema(Family::cohere, "embed_body"),
                                 .answers = {{.description = "The vectors of each type, in the order of the texts",
                                              .schema = route_schema(Family::cohere, "embed_answer")}},
                                 .computes = true});
  return routes;
}

}  // namespace alate::server
