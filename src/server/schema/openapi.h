// /openapi.json: the table of routes as an OpenAPI 3.1 document.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/route.h"
#include "server/settings/settings.h"

namespace alate::server {

/// JSON text. Each row is an operation, with the answers of its row and the errors that its family may give there;
/// bodies are the schemas that requests are checked against, in which members that may be left out may also be null,
/// as the check has it. Throws internal for a row whose schema is none.
std::string openapi_document(std::span<const Route> routes, const Settings& settings, std::string_view version);

/// `schema`, with null added to what each member takes that may be left out.
formats::Json with_nullable_members(const formats::Json& schema);

}  // namespace alate::server
