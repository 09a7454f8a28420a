#include "server/api/openai_request.h"

#include <utility>

#include "server/api/native.h"

namespace alate::server {

using formats::Json;

GenerationRequest begin_generation(const Json& body, std::string parameter) {
  GenerationRequest request;
  request.model = body.get_string("model", "");
  request.streams = body.get_bool("stream", false);
  request.keep_alive = read_keep_alive(body);
  request.parameter = std::move(parameter);
  return request;
}

bool wants_usage(const Json& body) {
  const Json* options = body.find_value("stream_options");
  return options != nullptr && options->get_bool("include_usage", false);
}

std::string service_tier_of(const Json& body) {
  const std::string tier = body.get_string("service_tier", "");
  return tier.empty() || tier == "flex" ? tier : "default";
}

}  // namespace alate::server
