#include "hub/download/pull_reference.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/contained_files.h"
#include "folders/cache_layout.h"
#include "folders/model_address.h"
#include "folders/packaged_models.h"
#include "formats/json.h"
#include "hub/http/http_url.h"

namespace alate::hub {
namespace {

constexpr std::size_t kMostVariant = 64;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text), " is no model of a hub: ", why,
                   "; write hf:owner/name, hf:owner/name@revision or hf:owner/name:variant");
}

bool is_variant(std::string_view text) {
  return !text.empty() && text.size() <= kMostVariant && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

// Splits "ENDPOINT/owner/name@revision:variant"; the rest without the endpoint stays in `text`.
std::string take_endpoint(std::string_view& text) {
  const std::size_t scheme = text.find(':'), authority = text.find("//", scheme);
  std::size_t path = scheme + 1;
  if (authority == path) path = std::min(text.find('/', authority + 2), text.size());
  const std::string_view names = text.substr(path, text.find_first_of("@:", path) - path);
  const std::size_t name = names.rfind('/');
  if (name == std::string_view::npos || name == 0) return {};
  const std::size_t before = names.rfind('/', name - 1);
  const std::size_t owner = path + (before == std::string_view::npos ? 0 : before + 1);
  std::string endpoint(text.substr(0, owner));
  text.remove_prefix(owner);
  while (endpoint.size() > path + 1 && endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

// Whether an endpoint is the hub itself, whose addresses of models are known.
bool is_hub(std::string_view endpoint) {
  if (endpoint.starts_with("file:")) return false;
  const std::string host = parse_http_url(endpoint).host;
  return host == "huggingface.co" || host == "www.huggingface.co" || host == "hf.co";
}

std::string_view without_prefix(std::string_view text) {
  for (const std::string_view prefix : {"hf://", "hf:"}) {
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  }
  return text;
}

// A GGUF at "MODEL/resolve/REVISION/FILE", where MODEL is an address of a model.
struct GgufAddress {
  std::string_view model;
  std::string revision, file;
};

std::optional<GgufAddress> gguf_address(std::string_view text) {
  const bool is_address = text.starts_with("http://") || text.starts_with("https://") || folders::hub_model_of(text);
  text = text.substr(0, text.find_first_of("?#"));
  if (!is_address || !base::ascii_lower(text).ends_with(".gguf")) return std::nullopt;
  for (const std::string_view page : {"/resolve/", "/blob/", "/raw/"}) {
    const std::size_t at = text.find(page);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + page.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) continue;
    return GgufAddress{text.substr(0, at), percent_decoded(rest.substr(0, slash)),
                       percent_decoded(rest.substr(slash + 1))};
  }
  return std::nullopt;
}

// What is written for other programs' models, "ollama:all-minilm", and names as Ollama has them. The hub would be asked
// for models that it cannot have.
void refuse_without_owner(std::string_view text, const std::string& id) {
  const std::size_t colon = text.find(':');
  if (const folders::PackagedModel* packaged = folders::find_packaged_model(text))
    refuse(text, "on the machine that runs Alate, " + folders::how_to_fetch(*packaged));
  if (colon < text.find('/') && text.substr(0, colon) == "builtin")
    refuse(text, "it comes with the program, and need not be fetched");
  if (colon != std::string_view::npos)
    refuse(text, "nothing is fetched from " + formats::quoted_name(text.substr(0, colon + 1)) +
                     "; there are hf:, registry:, file: and https:");
  refuse(text, "it has no owner; `alate list --remote " + id + "` lists the hub's models of such a name");
}

}  // namespace

bool is_file_address(std::string_view endpoint) { return endpoint.starts_with("file:"); }

std::string file_path(std::string_view address) {
  address.remove_prefix(std::string_view("file:").size());
  if (address.starts_with("//")) address.remove_prefix(2);
  return std::string(address.empty() ? "." : address);
}

std::string with_whole_path(std::string_view reference) {
  if (!is_file_address(reference)) return std::string(reference);
  std::string path = std::filesystem::absolute(file_path(reference)).lexically_normal().generic_string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return "file://" + path;
}

PullReference parse_pull_reference(std::string_view text) {
  if (const std::optional<GgufAddress> gguf = gguf_address(text)) {
    PullReference out = parse_pull_reference(gguf->model);
    if (out.revision != folders::kMainRevision || !out.variant.empty() || !folders::is_revision(gguf->revision) ||
        !base::is_plain_relative_path(gguf->file))
      refuse(text, "its address has no valid name of a file");
    out.revision = gguf->revision;
    out.file = gguf->file;
    return out;
  }
  if (const std::optional<std::string> id = folders::hub_model_of(text)) {
    if (!folders::is_repo_id(*id)) refuse(text, "its address has no valid name");
    return {.id = *id};
  }
  std::string_view rest = without_prefix(text);
  PullReference out;
  if (is_file_address(rest) || rest.starts_with("http://") || rest.starts_with("https://")) {
    out.endpoint = take_endpoint(rest);
    if (out.endpoint.empty() || is_hub(out.endpoint)) refuse(text, "it is the address of something else");
  }
  const std::size_t at = rest.find('@'), colon = rest.find(':', at == std::string_view::npos ? 0 : at);
  out.id = rest.substr(0, std::min(at, colon));
  if (at < colon) out.revision = rest.substr(at + 1, colon == std::string_view::npos ? colon : colon - at - 1);
  if (colon != std::string_view::npos) out.variant = rest.substr(colon + 1);
  const bool has_prefix = rest.size() < text.size();
  if (!has_prefix && folders::is_repo_id(out.id) && out.id.find('/') == std::string::npos)
    refuse_without_owner(text, out.id);
  if (!folders::is_repo_id(out.id)) refuse(text, "its name is not \"owner/name\" of letters, digits, -, _ and .");
  if (!folders::is_revision(out.revision)) refuse(text, "its revision is no branch, tag or commit");
  if (colon != std::string_view::npos && !is_variant(out.variant)) refuse(text, "its variant has other characters");
  return out;
}

}  // namespace alate::hub
