// The versions of models: each has one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/exchange/route.h"

namespace alate::server {

inline constexpr std::string_view kModelVersion = "1";

/// Throws RequestError, no_model, for a version in the path or in the body that no model has.
void check_version(const Call& call, const std::optional<std::string>& in_body = {});

}  // namespace alate::server
