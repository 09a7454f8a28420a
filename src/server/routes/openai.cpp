#include "server/routes/openai.h"

#include <chrono>

#include "server/routes/base64.h"

namespace alate::server {

using formats::Json;

std::string openai_embedding_list(const EmbedAnswer& answer, std::string_view model, bool base64) {
  std::string out = R"({"object":"list","data":[)";
  const std::span<const float> vectors = answer.vectors;
  for (std::size_t i = 0; i < answer.rows; ++i) {
    if (i > 0) out += ',';
    out += R"({"object":"embedding","index":)" + std::to_string(i) + R"(,"embedding":)";
    const std::span<const float> row = vectors.subspan(i * answer.dimensions, answer.dimensions);
    if (base64) {
      out += '"';
      append_base64(out, row);
      out += '"';
    } else {
      append_vector(out, row);
    }
    out += '}';
  }
  out += R"(],"model":)";
  formats::append_json_string(out, model);
  const std::string tokens = std::to_string(answer.tokens);
  out += R"(,"usage":{"prompt_tokens":)" + tokens + R"(,"total_tokens":)" + tokens + '}';
  if (!answer.truncated.empty()) {
    out += R"(,"truncated":[)";
    for (std::size_t i = 0; i < answer.truncated.size(); ++i)
      out += (i > 0 ? "," : "") + std::to_string(answer.truncated[i]);
    out += ']';
  }
  return out += '}';
}

Json openai_model(const ModelListing& listing) {
  const std::size_t slash = listing.name.find('/');
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(listing.modified.time_since_epoch()).count();
  return Json::Object{{"id", listing.name},
                      {"object", "model"},
                      {"created", std::int64_t{seconds}},
                      {"owned_by", slash == std::string::npos ? "alate" : listing.name.substr(0, slash)}};
}

}  // namespace alate::server
