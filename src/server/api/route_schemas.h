// Bodies and answers of the routes as JSON Schema: the files of the folder schemas, which the program has in it.
#pragma once

#include <string_view>

#include "server/exchange/family.h"

namespace alate::server {

/// The schema `name` among the $defs of schemas/FAMILY.json, without references; valid until the program ends. Throws
/// internal if there is none.
std::string_view route_schema(Family family, std::string_view name);

}  // namespace alate::server
