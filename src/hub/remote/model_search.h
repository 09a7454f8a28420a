// What a hub's search answers. Everything in it is untrusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "alate/hub.h"
#include "hub/registry/registry_listing.h"

namespace alate::hub {

inline constexpr std::size_t kMostSearchBytes = std::size_t{32} << 20;

/// Parses the answer of /api/models?search=…; `what` is for messages. In its order. Throws corrupt for text of another
/// form and for names that no model can have.
std::vector<FoundModel> parse_hub_search(std::string_view text, const std::string& what);

/// A registry's entry as a search finds it.
FoundModel found_in_registry(const RegistryEntry& entry);

/// Whether every word of `text` is in the entry's name, source, type or description, in any case of letters.
bool matches_search(const RegistryEntry& entry, std::string_view text);

}  // namespace alate::hub
