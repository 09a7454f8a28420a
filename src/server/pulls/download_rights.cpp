#include "server/pulls/download_rights.h"

#include <algorithm>

#include "alate/error.h"
#include "folders/cache_layout.h"
#include "folders/hub_models.h"
#include "formats/json.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

// Longer than any name, revision and variant together.
constexpr std::size_t kMostReference = 512;

hub::PullReference parsed_reference(std::string_view text) {
  if (text.size() > kMostReference) throw make_error(ErrorCode::invalid_argument, "the model's name is too long");
  hub::PullReference reference = hub::parse_pull_reference(text);
  // Only whoever runs the server says which servers it asks.
  if (!reference.endpoint.empty()) {
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text),
                     " names a server or a folder; write hf:owner/name");
  }
  // A model's name in a request says its form as a variant.
  if (!reference.file.empty())
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text), " names a file; write hf:", reference.id,
                     ":VARIANT");
  return reference;
}

}  // namespace

std::string canonical_name(const hub::PullReference& reference) {
  std::string name = std::string(folders::kHubPrefix) + reference.id;
  if (reference.revision != folders::kMainRevision) name += "@" + reference.revision;
  if (!reference.variant.empty()) name += ":" + reference.variant;
  return name;
}

hub::PullReference permitted_reference(std::string_view text, const Settings& settings) {
  if (!settings.allow_downloads) {
    refuse(Problem::Kind::forbidden,
           "this server does not download models; whoever runs it can allow that (allow_downloads, download_owners)",
           "model");
  }
  hub::PullReference reference;
  try {
    reference = parsed_reference(text);
  } catch (const Error& error) {
    refuse(Problem::Kind::invalid, error.message(), "model");
  }
  const std::string owner = reference.id.substr(0, reference.id.find('/'));
  const bool has_owner = owner.size() < reference.id.size();
  const bool is_permitted = std::ranges::any_of(
      settings.download_owners, [&](const std::string& each) { return each == "*" || (has_owner && each == owner); });
  if (!is_permitted) {
    refuse(Problem::Kind::forbidden,
           has_owner ? "this server does not download models of " + formats::quoted_name(owner) +
                           "; whoever runs it can allow that (download_owners)"
                     : "this server downloads models with an owner only; write hf:owner/name",
           "model");
  }
  return reference;
}

hub::PullReference configured_reference(std::string_view text) { return parsed_reference(text); }

}  // namespace alate::server
