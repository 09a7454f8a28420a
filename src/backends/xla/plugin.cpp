#include "backends/xla/plugin.h"

#include <algorithm>
#include <span>
#include <string>

#include "alate/error.h"
#include "base/hardware/cpu_facts.h"
#include "base/libraries/shared_library.h"
#include "base/os/environment.h"

namespace alate::xla {
namespace {

// The plugin's codes are Abseil's status codes.
ErrorCode code_of(int status) {
  switch (status) {
    case 1: return ErrorCode::cancelled;
    case 4: return ErrorCode::deadline_exceeded;
    case 5: return ErrorCode::not_found;
    case 8: return ErrorCode::resource_exhausted;
    case 12: return ErrorCode::unsupported;
    case 14: return ErrorCode::unavailable;
    default: return ErrorCode::internal;
  }
}

}  // namespace

std::shared_ptr<const Plugin> Plugin::open(const std::filesystem::path& path) {
  const std::size_t cores = std::max<std::size_t>(1, base::cpu_facts().usable_cores);
  base::set_environment_default("NPROC", std::to_string(cores));
  base::set_environment_default("TF_CPP_MIN_LOG_LEVEL", "1");
  const auto get_api = base::SharedLibrary::open(path).function<abi::GetApi>("GetPjrtApi");
  if (get_api == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " is no PJRT plugin: it has no GetPjrtApi; name a file as ",
                     "pjrt_c_api_cpu_plugin.so");
  const abi::Api* api = get_api();
  if (api == nullptr || api->size < sizeof(abi::Header) + sizeof(abi::Version))
    throw make_error(ErrorCode::unavailable, path.string(), " gives no PJRT functions");
  if (api->version.major != 0)
    throw make_error(ErrorCode::unavailable, path.string(), " speaks PJRT ", api->version.major, ".",
                     api->version.minor, ", but only 0.x is known: use a plugin for 0.x, or a newer Alate");
  std::shared_ptr<const Plugin> plugin(new Plugin(path, api));
  if (!plugin->has(&abi::Api::buffer_to_host))
    throw make_error(ErrorCode::unavailable, path.string(), " speaks PJRT 0.", api->version.minor,
                     ", which is too old");
  abi::PluginInitialize initialize;
  plugin->call(&abi::Api::plugin_initialize, initialize, "initializing " + path.string());
  return plugin;
}

std::map<std::string, std::string> Plugin::attributes() const {
  std::map<std::string, std::string> attributes;
  abi::PluginAttributes call;
  if (!try_call(&abi::Api::plugin_attributes, call)) return attributes;
  for (const abi::NamedValue& value : std::span(call.attributes, call.count)) {
    std::string text;
    switch (value.kind) {
      case abi::ValueKind::string: text.assign(value.string, value.value_size); break;
      case abi::ValueKind::integer: text = std::to_string(value.integer); break;
      case abi::ValueKind::integers:
        for (const std::int64_t number : std::span(value.integers, value.value_size))
          text += (text.empty() ? "" : ".") + std::to_string(number);
        break;
      case abi::ValueKind::number: text = std::to_string(value.number); break;
      case abi::ValueKind::boolean: text = value.boolean ? "true" : "false"; break;
    }
    attributes.emplace(std::string(value.name, value.name_size), text);
  }
  return attributes;
}

std::string Plugin::version_text() const {
  std::string text = "PJRT " + std::to_string(version().major) + "." + std::to_string(version().minor);
  const std::map<std::string, std::string> known = attributes();
  if (const auto found = known.find("stablehlo_current_version"); found != known.end())
    text += ", StableHLO " + found->second;
  return text;
}

void Plugin::throw_missing(std::string_view what) const {
  throw make_error(ErrorCode::unavailable, what, ": the plugin ", path_.string(), " (PJRT 0.", version().minor,
                   ") has no function for it; use a newer one");
}

void Plugin::throw_error(abi::Error* error, std::string_view what) const {
  abi::ErrorMessage message;
  message.error = error;
  api_->error_message(&message);
  std::string text(message.message, message.message_size);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  abi::ErrorCode code;
  code.error = error;
  abi::Error* second = api_->error_code(&code);
  if (second != nullptr) destroy(second);
  destroy(error);
  throw make_error(second == nullptr ? code_of(code.code) : ErrorCode::internal, what, ": XLA says: ", text);
}

void Plugin::destroy(abi::Error* error) const {
  abi::ErrorDestroy destroyed;
  destroyed.error = error;
  api_->error_destroy(&destroyed);
}

}  // namespace alate::xla
