#include "hub/registry/registry_reference.h"

#include <optional>

#include "alate/error.h"
#include "base/os/environment.h"
#include "folders/cache_layout.h"
#include "folders/model_variants.h"
#include "formats/json.h"
#include "hub/http/http_url.h"

namespace alate::hub {
namespace {

constexpr std::string_view kPublicRegistry = "https://registry.antfly.io/v1";
constexpr std::string_view kManifests = "/manifests/", kJson = ".json";

[[noreturn]] void refuse_reference(std::string_view text, std::string_view why) {
  throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text), " is no model of a registry: ", why,
                   "; write owner/name or owner/name:variant");
}

bool is_web_address(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

struct ManifestAddress {
  std::string_view registry, id, variant;
  bool has_variant = false;
};

// "https://HOST/v1/manifests/owner/name.json:i8".
std::optional<ManifestAddress> manifest_address(std::string_view text) {
  const std::size_t path = text.find(kManifests), end = text.rfind(kJson);
  if (!is_web_address(text) || path == std::string_view::npos || end == std::string_view::npos || end < path)
    return std::nullopt;
  const std::size_t name = path + kManifests.size();
  const std::string_view rest = text.substr(end + kJson.size());
  if (end < name || (!rest.empty() && rest.front() != ':')) return std::nullopt;
  return ManifestAddress{text.substr(0, path), text.substr(name, end - name), rest.empty() ? rest : rest.substr(1),
                         !rest.empty()};
}

}  // namespace

std::string registry_address(std::string_view given) {
  std::string text(given);
  if (text.empty()) text = base::environment("ANTFLY_REGISTRY_URL").value_or("");
  if (text.empty()) text = kPublicRegistry;
  while (text.ends_with('/')) text.pop_back();
  HttpUrl url = parse_http_url(text);
  if (url.target.find('?') != std::string::npos)
    throw make_error(ErrorCode::invalid_argument, url.shown(), " is no registry: its address has no \"?\"");
  return url.target.size() > 1 ? text : text + "/v1";
}

bool is_registry_reference(std::string_view reference, std::string_view given) {
  if (reference.starts_with(kRegistryPrefix) || manifest_address(reference)) return true;
  const bool is_plain = !reference.starts_with("hf:") && !reference.starts_with("file:") && !is_web_address(reference);
  return !given.empty() && is_plain;
}

RegistryReference parse_registry_reference(std::string_view reference, std::string_view given) {
  RegistryReference out;
  std::string_view id = reference, variant;
  bool has_variant = false;
  if (const auto address = manifest_address(reference)) {
    out.registry = registry_address(address->registry);
    id = address->id;
    variant = address->variant;
    has_variant = address->has_variant;
  } else {
    out.registry = registry_address(given);
    if (id.starts_with(kRegistryPrefix)) id.remove_prefix(kRegistryPrefix.size());
    if (const std::size_t colon = id.find(':'); colon != std::string_view::npos) {
      variant = id.substr(colon + 1);
      id = id.substr(0, colon);
      has_variant = true;
    }
  }
  if (id.find('@') != std::string_view::npos)
    refuse_reference(reference, "a registry has one version of a model, so \"@\" names nothing");
  if (!folders::is_repo_id(id))
    refuse_reference(reference, "its name is not \"owner/name\" of letters, digits, -, _ and .");
  if (has_variant && !folders::is_variant_name(variant))
    refuse_reference(reference, "its variant has other characters");
  out.id = id;
  out.variant = variant;
  return out;
}

}  // namespace alate::hub
