// /openapi.json: the route table as an OpenAPI 3.1 document.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/exchange/route.h"
#include "server/settings/settings.h"

namespace alate::server {

/// JSON text. Each row is an operation, with its own answers and the possible errors of its family. Body schemas are
/// the ones that requests are validated against; optional members may also be null, as in validation. Throws internal
/// for a row with an invalid schema.
std::string openapi_document(std::span<const Route> routes, const Settings& settings, std::string_view version);

/// `schema`, with null allowed for every optional member, except for those with "nullable": false. That keyword is left
/// out: it is of OpenAPI 3.0, and here the type says it.
formats::Json with_nullable_members(const formats::Json& schema);

}  // namespace alate::server
