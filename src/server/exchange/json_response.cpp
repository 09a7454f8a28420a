#include "server/exchange/json_response.h"

#include <utility>

namespace alate::server {

Response json_response(const formats::Json& body) { return json_response(formats::to_json_text(body)); }

Response json_response(std::string text) {
  Response response;
  response.body = std::move(text);
  return response;
}

}  // namespace alate::server
