// Which models of the hub the clients of a server may have fetched.
#pragma once

#include <string>
#include <string_view>

#include "hub/download/pull_reference.h"
#include "server/settings/settings.h"

namespace alate::server {

/// "hf:owner/name", "hf:owner/name@revision:variant": one spelling for each reference; "main" is left out.
std::string canonical_name(const hub::PullReference& reference);

/// The reference in a request, which `allow_downloads` and `download_owners` must permit. Nothing on the disk is looked
/// at. Throws RequestError: forbidden where this server downloads nothing or not from this owner; invalid for what is
/// no name of a model on the usual hub, such as the address of another server.
hub::PullReference permitted_reference(std::string_view text, const Settings& settings);

/// The reference in a setting, whose author may name any model of the usual hub. Throws invalid_argument.
hub::PullReference configured_reference(std::string_view text);

}  // namespace alate::server
