// A PJRT plugin: an opened shared library and the function table that it exports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/xla/abi.h"

namespace alate::xla {

/// Stays loaded until the process ends: such libraries have threads of their own. Thread-safe.
class Plugin {
 public:
  /// Sets environment variables that such libraries read, where they have no value: NPROC, which determines the size of
  /// processor plugins' thread pools, to the processors that this process may use; TF_CPP_MIN_LOG_LEVEL to warnings.
  /// Throws unavailable, saying what to do, for a file that is no library, no plugin, or one of another major version.
  static std::shared_ptr<const Plugin> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const abi::Version& version() const { return api_->version; }
  /// "PJRT 0.115, StableHLO 1.17.0".
  std::string version_text() const;
  /// The plugin's attributes, as text: "xla_version" "2", "stablehlo_current_version" "1.17.0".
  std::map<std::string, std::string> attributes() const;

  /// Whether the plugin is new enough to have the function.
  template <typename Function>
  bool has(Function abi::Api::*function) const {
    const auto* begin = reinterpret_cast<const std::byte*>(api_);
    const auto* entry = reinterpret_cast<const std::byte*>(&(api_->*function));
    return static_cast<std::size_t>(entry - begin) + sizeof(Function) <= api_->size && api_->*function != nullptr;
  }

  /// Calls a function that the plugin must have. Throws its error, with `what` before the message.
  template <typename Arguments>
  void call(abi::Function<Arguments> abi::Api::*function, Arguments& arguments, std::string_view what) const {
    if (!has(function)) throw_missing(what);
    if (abi::Error* error = (api_->*function)(&arguments)) throw_error(error, what);
  }

  /// The same for calls whose failure does not matter; returns whether it succeeded.
  template <typename Arguments>
  bool try_call(abi::Function<Arguments> abi::Api::*function, Arguments& arguments) const {
    if (!has(function)) return false;
    abi::Error* error = (api_->*function)(&arguments);
    if (error != nullptr) destroy(error);
    return error == nullptr;
  }

  void destroy(abi::Error* error) const;

 private:
  Plugin(std::filesystem::path path, const abi::Api* api) : path_(std::move(path)), api_(api) {}

  [[noreturn]] void throw_missing(std::string_view what) const;
  [[noreturn]] void throw_error(abi::Error* error, std::string_view what) const;

  std::filesystem::path path_;
  const abi::Api* api_;
};

}  // namespace alate::xla
