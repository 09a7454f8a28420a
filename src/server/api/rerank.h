// Reranking in the format of each family that has it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "server/exchange/route.h"

namespace alate::server {

Route native_rerank_route();
std::vector<Route> cohere_rerank_routes();
Route tei_rerank_route();

/// POST /rerank of text-embeddings-inference, for the routes that do what a model is for.
void rerank_as_tei(Call& call);

/// The texts of a list of strings or of objects with a "text"; `name` is the list's. Throws RequestError for others.
std::vector<std::string> read_documents(const formats::Json::Array& documents, const std::string& name);

/// A count in the body; nothing if absent or null.
std::optional<std::size_t> read_count(const formats::Json& body, std::string_view name);

}  // namespace alate::server
