// Results as JSON, for POST /api/search and `alate search`.
#pragma once

#include <span>
#include <string>

#include "alate/search.h"

namespace alate::search {

/// Appends one result as an object.
void append_result(std::string& out, const SearchResult& result);

/// {"results": [...]}.
std::string results_json(std::span<const SearchResult> results);

}  // namespace alate::search
