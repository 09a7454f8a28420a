#include "server/api/alias_listings.h"

#include <string>

#include "alate/error.h"

namespace alate::server {

std::vector<ModelListing> alias_listings(const Services& services) {
  std::vector<ModelListing> listings;
  for (const auto& [alias, model] : services.settings.aliases) {
    try {
      listings.push_back(describe_by_name(services, alias));
    } catch (const Error&) {
      continue;  // it was there when the server started
    }
  }
  return listings;
}

ModelListing describe_by_name(const Services& services, std::string_view name) {
  ModelListing listing = services.models.describe(name);
  if (services.settings.aliases.contains(std::string(name))) listing.name = name;
  return listing;
}

}  // namespace alate::server
