#include "backends/plugin/library.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "alate/error.h"
#include "backends/plugin/plugin_search.h"
#include "backends/plugin/visits.h"
#include "base/libraries/shared_library.h"
#include "formats/utf8.h"

namespace alate::plugin {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostAliases = 16;
constexpr std::size_t kMostDevices = 1024;

// The structs of version 1 end with these members; later versions may append others.
constexpr std::size_t kTableSize = offsetof(alate_backend_api, facts) + sizeof(alate_backend_api::facts);
constexpr std::size_t kDeviceSize = offsetof(alate_device, remedy) + sizeof(alate_device::remedy);
constexpr std::size_t kStatusSize = offsetof(alate_status, message) + sizeof(alate_status::message);

ErrorCode code_of(std::int32_t code) {
  switch (code) {
    case ALATE_INVALID_ARGUMENT: return ErrorCode::invalid_argument;
    case ALATE_NOT_FOUND: return ErrorCode::not_found;
    case ALATE_UNSUPPORTED: return ErrorCode::unsupported;
    case ALATE_RESOURCE_EXHAUSTED: return ErrorCode::resource_exhausted;
    case ALATE_UNAVAILABLE: return ErrorCode::unavailable;
    case ALATE_CANCELLED: return ErrorCode::cancelled;
    default: return ErrorCode::internal;
  }
}

bool has_all_functions(const alate_backend_api& api) {
  return api.release_status != nullptr && api.visit_devices != nullptr && api.supports != nullptr &&
         api.compile != nullptr && api.release_executable != nullptr && api.visit_ports != nullptr &&
         api.run != nullptr && api.facts != nullptr;
}

backends::DeviceKind kind_of(std::int32_t kind) {
  switch (kind) {
    case ALATE_GPU: return backends::DeviceKind::gpu;
    case ALATE_ACCELERATOR: return backends::DeviceKind::accelerator;
    default: return backends::DeviceKind::processor;
  }
}

backends::Device device_of(const Library& library, const alate_device* from, int index) {
  if (from == nullptr) library.fail("gives no device where one should be");
  library.require_size(from->struct_size, kDeviceSize, "a device");
  backends::Device device{.backend = library.name(), .name = library.text(from->name, "a device's name")};
  if (!is_plugin_name(device.name)) library.fail("gives a device a name that is none");
  if (from->kind < ALATE_PROCESSOR || from->kind > ALATE_ACCELERATOR) library.fail("has a device of no known kind");
  device.index = index;
  device.kind = kind_of(from->kind);
  device.description = library.text_or_empty(from->description, "a device's description");
  device.version = library.version();
  device.library = library.file().string();
  device.driver = library.text_or_empty(from->driver, "a device's driver");
  device.compute_capability = library.text_or_empty(from->compute_capability, "a device's compute capability");
  device.total_bytes = from->total_bytes;
  device.free_bytes = from->total_bytes == 0 ? from->free_bytes : std::min(from->free_bytes, from->total_bytes);
  device.unified_memory = from->unified_memory != 0;
  if (from->unusable != nullptr) device.unusable = library.text(from->unusable, "the reason why a device is unusable");
  device.remedy = library.text_or_empty(from->remedy, "a device's remedy");
  return device;
}

}  // namespace

Library::Library(std::filesystem::path file, std::string name, const alate_backend_api* api)
    : file_(std::move(file)), name_(std::move(name)), api_(api) {}

std::shared_ptr<const Library> Library::open(const std::filesystem::path& file, const std::string& name) {
  const auto refuse = [&](const auto&... why) {
    throw make_error(ErrorCode::unavailable, file.string(), " is not used as backend '", name, "': ", why...);
  };
  const auto get_api =
      base::SharedLibrary::open(file).function<alate_backend_get_api_function>("alate_backend_get_api");
  if (get_api == nullptr) refuse("it has no alate_backend_get_api; see docs/adding-a-backend.md");
  const alate_backend_api* api = nullptr;
  try {
    api = get_api(ALATE_BACKEND_ABI_VERSION);
  } catch (...) {
    refuse("it throws an exception when asked for its functions");
  }
  if (api == nullptr)
    refuse("it does not speak version ", ALATE_BACKEND_ABI_VERSION, " of the interface: build it with this header");
  if (api->struct_size < kTableSize)
    refuse("its table has ", api->struct_size, " bytes, and version ", ALATE_BACKEND_ABI_VERSION, " has ", kTableSize);
  if (api->abi_version != ALATE_BACKEND_ABI_VERSION)
    refuse("its table is of version ", api->abi_version, ", asked for was ", ALATE_BACKEND_ABI_VERSION);
  if (!has_all_functions(*api)) refuse("its table lacks a function");
  const std::shared_ptr<Library> library(new Library(file, name, api));
  try {
    if (const std::string own = library->text(api->name, "the name"); own != name)
      refuse("it calls itself '", own, "', which its file's name must say");
    library->description_ = library->text(api->description, "the description");
    library->version_ = library->text(api->version, "the version");
    if (api->alias_count > kMostAliases) refuse("it has ", api->alias_count, " aliases; ", kMostAliases, " are enough");
    if (api->alias_count > 0 && api->aliases == nullptr) refuse("its aliases are null");
    for (std::size_t i = 0; i < api->alias_count; ++i) {
      library->aliases_.push_back(library->text(api->aliases[i], "an alias"));
      if (!is_plugin_name(library->aliases_.back())) refuse("an alias of it is no name");
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unavailable) throw;
    refuse(error.message());
  }
  return library;
}

std::string Library::text(const char* from, std::string_view what) const {
  if (from == nullptr) fail("gives no text as " + std::string(what));
  const std::size_t size = strnlen(from, kLongestText + 1);
  if (size > kLongestText) fail("gives a text without end as " + std::string(what));
  const std::string_view view(from, size);
  const bool is_text = formats::valid_utf8_prefix(view) == size && std::ranges::none_of(view, [](char c) {
                         return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                       });
  if (!is_text) fail("gives as " + std::string(what) + " what is no line of UTF-8");
  return std::string(view);
}

void Library::require_size(std::size_t found, std::size_t wanted, std::string_view what) const {
  if (found < wanted)
    fail("gives " + std::string(what) + " of " + std::to_string(found) + " bytes, where version " +
         std::to_string(ALATE_BACKEND_ABI_VERSION) + " has " + std::to_string(wanted));
}

void Library::fail(std::string_view what) const {
  throw make_error(ErrorCode::internal, "backend '", name_, "' (", file_.string(), ") ", what);
}

void Library::throw_escaped(std::string_view doing) const {
  fail("let an exception out while " + std::string(doing) + ", which its interface does not allow");
}

void Library::throw_status(std::string_view doing, alate_status* status) const {
  ErrorCode code = ErrorCode::internal;
  std::string message = "it says nothing more";
  if (status->struct_size >= kStatusSize) {
    code = code_of(status->code);
    try {
      message = text(status->message, "an error's message");
    } catch (const Error&) {
      // The status code counts even where its message cannot be shown.
    }
  }
  api_->release_status(status);
  throw make_error(code, "backend '", name_, "', ", doing, ": ", message);
}

void Library::release(alate_executable* executable) const noexcept {
  try {
    api_->release_executable(executable);
  } catch (...) {
    // Nothing can be done about it here.
  }
}

std::vector<backends::Device> Library::devices() const {
  std::vector<backends::Device> devices;
  const auto add = [&](const alate_device* from) {
    if (devices.size() == kMostDevices) fail("has devices without end");
    devices.push_back(device_of(*this, from, static_cast<int>(devices.size())));
  };
  Visit visit(add);
  check("listing devices", &alate_backend_api::visit_devices, visit.function<const alate_device*>(), visit.context());
  visit.finish();
  return devices;
}

Library::Answer Library::supports(std::string_view op, const std::string& graph, const std::string& device) const {
  const std::string name(op);
  alate_support_query query{};
  query.struct_size = sizeof query;
  query.op = name.c_str();
  query.graph = graph.c_str();
  query.graph_bytes = graph.size();
  query.device = device.c_str();
  alate_support support{};
  support.struct_size = sizeof support;
  check("asked about " + name, &alate_backend_api::supports, static_cast<const alate_support_query*>(&query), &support);
  return {.native = support.native != 0,
          .spelling = text_or_empty(support.spelling, "a spelling"),
          .reason = text_or_empty(support.reason, "a reason")};
}

}  // namespace alate::plugin
