// The package index that pip is set up for on this machine, as behind a company's mirror.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace alate::hub {

/// The index-url of pip's configuration files: the one that PIP_CONFIG_FILE names, else the user's, else the system's
/// (https://pip.pypa.io/en/stable/topics/configuration/). Files that cannot be read have none.
std::optional<std::string> pip_index_url();

/// That of a file's text: in [global], or in [download] or [install], which pip prefers for these commands.
std::optional<std::string> index_url_of(std::string_view configuration);

}  // namespace alate::hub
