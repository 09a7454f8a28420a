// How verbs about a running server reach it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "formats/json.h"

namespace alate::app {

struct ServerOptions {
  std::string url, key, authorities;
  bool insecure = false;
};
void declare_server(Arguments& arguments, ServerOptions& options);

struct ServerQuestion {
  std::string_view method, path;  // without the server's base path
  std::string body = {};          // JSON
  std::chrono::seconds timeout = std::chrono::seconds(10);
};
/// The answer of the server of --url, else of the one that the settings describe. Throws unavailable where nothing
/// answers, unauthenticated where it wants another key, and what the server says is wrong.
formats::Json ask_server(const ServerOptions& server, const CommonOptions& options, const ServerQuestion& question);

}  // namespace alate::app
