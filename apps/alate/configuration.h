// The configuration file of a command: found, read and checked once, when it is first asked for.
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
  /// The file to read, instead of alate.yaml in the user's folder of configurations (which need not exist).
  void choose(std::string_view path) { path_ = path; }

  /// Null when there is none. Throws as `server::read_configuration` and `server::load_settings`: all of the file must
  /// be right, whatever the command wants of it.
  const server::ConfigurationFile* file();

  /// What the file, else another system's variable, says about an option that commands share.
  std::optional<Arguments::Configured> value_of(std::string_view option);

  /// Warnings about the file, for when the log is set up.
  const std::vector<std::string>& unknown_keys() const { return unknown_keys_; }

 private:
  std::string path_;
  bool is_read_ = false;
  std::optional<server::ConfigurationFile> file_;
  std::vector<std::string> unknown_keys_;
};

/// A variable of the environment, as settings are looked up there.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace alate::app
