// A command's configuration file: found, read and validated once, on first use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "server/settings/configuration_file.h"
#include "server/settings/settings_loading.h"

namespace alate::app {

/// Not thread-safe.
class Configuration {
 public:
  /// Sets the file to read, in place of alate.yaml in the user's configuration folder (which need not exist).
  void choose(std::string_view path) { path_ = path; }

  /// Null if there is none. Throws as `server::read_configuration` and `server::load_settings`: the whole file must be
  /// valid, whichever part the command uses.
  const server::ConfigurationFile* file();

  /// The value of a shared option from the file, else from another system's variable.
  std::optional<Arguments::Configured> value_of(std::string_view option);

  /// Warnings about the file, to be logged once logging is set up.
  const std::vector<std::string>& unknown_keys() const { return unknown_keys_; }

 private:
  std::string path_;
  bool is_read_ = false;
  std::optional<server::ConfigurationFile> file_;
  std::vector<std::string> unknown_keys_;
};

/// An environment variable, in the form in which settings are looked up.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace alate::app
