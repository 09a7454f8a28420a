#include "configuration.h"

#include <filesystem>
#include <system_error>

#include "base/os/environment.h"

namespace alate::app {

const server::ConfigurationFile* Configuration::file() {
  if (!is_read_) {
    std::filesystem::path path = path_;
    if (path_.empty()) {
      std::error_code error;
      const auto usual = server::default_configuration_path();
      if (usual && std::filesystem::exists(*usual, error)) path = *usual;
    }
    if (!path.empty()) {
      file_ = server::read_configuration(path);
      unknown_keys_ = server::load_settings({.options = {}, .environment = {}, .file = &*file_}).unknown_keys;
    }
    is_read_ = true;
  }
  return file_ ? &*file_ : nullptr;
}

std::optional<Arguments::Configured> Configuration::value_of(std::string_view option) {
  const server::Setting* setting = server::find_setting_of_option(option);
  if (setting == nullptr || setting->scope == server::SettingScope::server) return std::nullopt;
  auto found = server::configured_value(*setting, {.options = {}, .environment = environment_variable, .file = file()});
  if (!found) return std::nullopt;
  return Arguments::Configured{std::move(found->texts), std::move(found->origin)};
}

std::optional<std::string> environment_variable(const std::string& name) { return base::environment(name.c_str()); }

}  // namespace alate::app
