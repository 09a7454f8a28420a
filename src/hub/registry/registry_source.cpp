#include "hub/registry/registry_source.h"

#include <limits>
#include <span>
#include <string_view>

#include "alate/error.h"
#include "base/nearest_name.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "hub/download/file_start.h"
#include "hub/download/part_file.h"
#include "hub/download/retries.h"
#include "hub/download/verified_download.h"
#include "hub/http/http_exchange.h"

namespace alate::hub {
namespace {

std::string blob_target(const std::string& digest) { return "/blobs/sha256:" + digest; }

}  // namespace

std::string RegistrySource::read_list(const std::string& target, const std::string& what) const {
  const HttpUrl url = access_.url(target);
  return with_retries(access_.retries(), access_.stop(), [&] {
    std::string text;
    exchange_following(
        url, access_.request("GET"), access_.limits(kMostRegistryBytes), Redirects::same_origin,
        [&](const HttpHead& head) {
          if (head.is_redirect())
            throw make_error(ErrorCode::corrupt, head.url.shown(), " redirects to ", redirect_target(head).shown(),
                             ": a registry's lists are read from itself only; if that is the registry, name it with "
                             "--registry");
          if (head.status != 200) access_.refuse(head, what);
          return true;
        },
        [&](std::span<const std::byte> piece) {
          text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        });
    return text;
  });
}

std::vector<RegistryEntry> RegistrySource::index() const {
  return parse_registry_index(read_list("/index.json", "index"), "the index of " + address());
}

// "; did you mean owner/name?" The index may be missing.
std::string RegistrySource::suggestion(const std::string& id) const {
  std::vector<RegistryEntry> entries;
  try {
    entries = index();
  } catch (const Error&) {
    return {};
  }
  std::vector<std::string_view> names;
  for (const RegistryEntry& each : entries) {
    if (std::string_view(each.id).substr(each.id.find('/') + 1) == id) return "; did you mean " + each.id + "?";
    names.push_back(each.id);
  }
  const std::string_view nearest = base::nearest_name(id, names);
  return nearest.empty() ? "; `alate list --remote --registry " + address() + "` shows what it has"
                         : "; did you mean " + std::string(nearest) + "?";
}

RegistrySource::ListedModel RegistrySource::model(const std::string& id) const {
  std::string text;
  try {
    text = read_list("/manifests/" + percent_encoded(id, "/") + ".json", id);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw Error(ErrorCode::not_found, std::string(error.message()) + suggestion(id));
  }
  const std::string digest = base::Sha256().add(std::as_bytes(std::span(text))).finish();
  return {parse_registry_manifest(text, id, "the manifest of " + id + " at " + address()), "sha256:" + digest};
}

// Asked for before the file: a manifest that states another size is found out at once.
std::uint64_t RegistrySource::bytes_of(const HubAccess& access, const std::string& id,
                                       const folders::ManifestFile& file) const {
  const std::string what = id + "/" + file.name;
  const HttpHead head = with_retries(access.retries(), access.stop(), [&] {
    return exchange_following(
        access.url(blob_target(file.sha256)), access.request("HEAD"),
        access.limits(std::numeric_limits<std::uint64_t>::max()), Redirects::anywhere,
        [&](const HttpHead& answer) {
          const bool is_unknown_method = answer.status == 405 || answer.status == 501;
          if (answer.status != 200 && !is_unknown_method) access.refuse(answer, what);
          return false;
        },
        [](std::span<const std::byte>) {});
  });
  const std::optional<std::uint64_t> stated = file.size.value_or(0) > 0 ? file.size : std::nullopt;
  const std::optional<std::uint64_t> there = head.status == 200 ? head.length : std::nullopt;
  if (stated && there && *stated != *there)
    throw make_error(ErrorCode::corrupt, "the registry contradicts itself about ", what, ": it has ", *there,
                     " bytes, and ", *stated, " in the manifest");
  if (!stated && !there)
    throw make_error(ErrorCode::unavailable, "the registry does not say how many bytes ", what, " has");
  const std::uint64_t bytes = stated ? *stated : *there;
  if (bytes > kMostFileBytes)
    throw make_error(ErrorCode::resource_exhausted, what, " has ", bytes,
                     " bytes, which is more than any model's file");
  return bytes;
}

std::string RegistrySource::read_text(const std::string& id, const RemoteFile& file, std::uint64_t max_bytes) const {
  return access_.read_text(access_.url(blob_target(file.digest)), id, max_bytes);
}

std::optional<std::string> RegistrySource::read_start(const std::string& id, const RemoteFile& file,
                                                      std::size_t count) const {
  return hub::read_start(access_, access_.url(blob_target(file.digest)), id, count);
}

void RegistrySource::fetch(const std::string& id, const folders::ManifestFile& file, const std::filesystem::path& part,
                           const std::filesystem::path& target, const std::stop_token& stop,
                           const OnBytes& on_bytes) const {
  const HubAccess access = access_.with_stop(stop);
  const RangedSource source{.url = access.url(blob_target(file.sha256)), .id = id, .name = file.name};
  for (int attempt = 1;; ++attempt) {
    PartFile written(part, file.sha256, file.sha256, bytes_of(access, id, file));
    const bool is_last = attempt == kMostFileAttempts;
    if (!download_verified(access, source, written, file.sha256, {.connections = connections_}, on_bytes, is_last))
      continue;
    written.publish(target);
    return;
  }
}

}  // namespace alate::hub
