// The proxy that the environment names.
#pragma once

#include <string>
#include <string_view>

#include "hub/http/http_url.h"

namespace alate::hub {

/// The proxy for an address according to HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or lower case;
/// empty: none.
std::string proxy_for(const HttpUrl& url);

/// "Basic …" of RFC 7617 for credentials.
std::string basic_authorization(std::string_view credentials);

}  // namespace alate::hub
