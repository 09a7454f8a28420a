#include "server/api/rerank.h"

#include "server/exchange/refuse.h"

namespace alate::server {

using formats::Json;

std::vector<std::string> read_documents(const Json::Array& documents, const std::string& name) {
  std::vector<std::string> texts;
  texts.reserve(documents.size());
  for (const Json& document : documents) {
    const Json* text = document.is_object() ? document.find("text") : &document;
    if (text == nullptr || !text->is_string())
      refuse(Problem::Kind::invalid,
             name + "[" + std::to_string(texts.size()) + "] has no text; it must be a string, or an object with a text",
             name);
    texts.push_back(text->as_string(name));
  }
  return texts;
}

std::optional<std::size_t> read_count(const Json& body, std::string_view name) {
  const Json* count = body.find(name);
  if (count == nullptr || count->is_null()) return std::nullopt;
  return static_cast<std::size_t>(count->as_int(name));
}

}  // namespace alate::server
