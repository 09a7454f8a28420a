// A package index as pip reads it: the simple API, as JSON (PEP 691) or HTML (PEP 503).
#pragma once

#include <string>
#include <string_view>

#include "hub/http/http_url.h"

namespace alate::hub {

/// The index that ALATE_PACKAGE_INDEX names, else PIP_INDEX_URL, else the one that pip is set up
/// for, else PyPI's.
std::string package_index();

/// The address of `file` of `project`. Throws not_found if the index does not have it, corrupt if its page cannot be
/// parsed, and as download.
HttpUrl find_package_file(const std::string& index, std::string_view project, std::string_view file);

/// The reference to `file` on a project's page; empty if there is none. Throws corrupt.
std::string file_reference(std::string_view page, std::string_view content_type, std::string_view file);

}  // namespace alate::hub
