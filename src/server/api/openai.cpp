#include "server/api/openai.h"

#include <chrono>

#include "server/api/vector_types.h"

namespace alate::server {

using formats::Json;

ItemizedBody openai_embedding_list(EmbedAnswer answer, std::string_view model, std::string_view type) {
  const VectorRows vectors = take_vectors(answer);
  ItemizedBody body;
  body.hold(vectors.held_bytes());
  body.add_text(R"({"object":"list","data":[)");
  body.add_list(vectors.rows(), [vectors, type = std::string(type)](std::string& out, std::size_t row) {
    out += R"({"object":"embedding","index":)" + std::to_string(row) + R"(,"embedding":)";
    append_vector_as(out, vectors.row(row), type);
    out += '}';
  });

  std::string out = R"(],"model":)";
  formats::append_json_string(out, model.empty() ? std::string_view(answer.model->name) : model);
  const std::string tokens = std::to_string(answer.tokens);
  out += R"(,"usage":{"prompt_tokens":)" + tokens + R"(,"total_tokens":)" + tokens + '}';
  if (!answer.truncated.empty()) {
    out += R"(,"truncated":[)";
    for (std::size_t i = 0; i < answer.truncated.size(); ++i)
      out += (i > 0 ? "," : "") + std::to_string(answer.truncated[i]);
    out += ']';
  }
  body.add_text(out += '}');
  return body;
}

Json openai_model(const ModelListing& listing) {
  const std::size_t slash = listing.name.find('/');
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(listing.modified.time_since_epoch()).count();
  Json::Object model{{"id", listing.name},
                     {"object", "model"},
                     {"created", std::int64_t{seconds}},
                     {"owned_by", slash == std::string::npos ? "alate" : listing.name.substr(0, slash)}};
  Json::Array capabilities;
  for (const pipelines::Task task : listing.tasks) capabilities.emplace_back(pipelines::to_string(task));
  if (!capabilities.empty()) model.emplace_back("capabilities", std::move(capabilities));
  return model;
}

}  // namespace alate::server
