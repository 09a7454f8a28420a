// Any bytes are a configuration file or refused with a place; settings that were read print as a file that reads the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "server/settings/settings_loading.h"

using alate::Error;
using alate::ErrorCode;
namespace server = alate::server;

namespace {

server::Settings read(std::string_view text, bool lenient) {
  server::ConfigurationFile file = server::parse_configuration(text, "alate.yaml");
  file.lenient = lenient;
  return server::load_settings({.options = {}, .environment = {}, .file = &file}).settings;
}

// Keys are not printed: they must not count in the comparison.
std::string printed(server::Settings settings) {
  settings.api_keys.clear();
  return server::settings_as_yaml(settings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string first;
  try {
    first = printed(read(text, (data[0] & 1) != 0));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) std::abort();
    return 0;
  }
  if (printed(read(first, false)) != first) std::abort();
  return 0;
}
