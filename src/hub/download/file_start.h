// Parts of files on a server, without the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hub/download/hub_access.h"
#include "hub/http/http_url.h"

namespace alate::hub {

/// The first `count` bytes of a file, by a range request; nothing where the server sends whole files only. Throws as
/// HubAccess::refuse and the network, after retries.
std::optional<std::string> read_start(const HubAccess& access, const HttpUrl& url, const std::string& id,
                                      std::size_t count);

/// The longest header of a safetensors file that is fetched without its file.
inline constexpr std::size_t kMostHeaderBytes = std::size_t{32} << 20;

/// Length and header of a safetensors file of `bytes` bytes, of which `start` reads the first ones; the first bytes of
/// one with a header that is none or longer than kMostHeaderBytes. Nothing where `start` gives nothing.
std::optional<std::string> read_safetensors_start(
    std::uint64_t bytes, const std::function<std::optional<std::string>(std::size_t count)>& start);

}  // namespace alate::hub
