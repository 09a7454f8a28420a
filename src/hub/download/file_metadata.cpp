#include "hub/download/file_metadata.h"

#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "alate/error.h"
#include "folders/blob_digest.h"
#include "folders/cache_layout.h"
#include "formats/json.h"

namespace alate::hub {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                     : std::nullopt;
}

std::optional<std::uint64_t> bytes_of(const HttpHead& head, const RemoteFile& file) {
  if (const auto linked = number(head.field("x-linked-size"))) return linked;
  if (!head.is_redirect() && head.length) return head.length;
  return file.bytes;
}

[[noreturn]] void contradiction(const std::string& what, std::string_view why) {
  throw make_error(ErrorCode::corrupt, "the hub contradicts itself about ", what, ": ", why);
}

}  // namespace

std::string normalized_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

FileMetadata read_file_metadata(const HubAccess& access, const std::string& id, const std::string& commit,
                                const RemoteFile& file) {
  const std::string what = id + "/" + file.name;
  const HttpUrl url = access.file_url(id, commit, file.name);
  const HttpHead head = with_retries(access.retries(), access.stop(), [&] {
    return exchange_following(
        url, access.request("HEAD"), access.limits(std::numeric_limits<std::uint64_t>::max()), Redirects::same_origin,
        [&](const HttpHead& answer) {
          if (answer.status != 200 && !answer.is_redirect()) access.refuse(answer, id);
          return false;
        },
        [](std::span<const std::byte>) {});
  });
  if (const std::string_view stated = head.field("x-repo-commit"); !stated.empty() && stated != commit)
    contradiction(what, "it is of another commit than was asked for");

  FileMetadata out;
  out.location = head.is_redirect() ? redirect_target(head) : head.url;
  const std::string_view linked = head.field("x-linked-etag");
  out.blob = normalized_etag(linked.empty() ? head.field("etag") : linked);
  const bool is_known = folders::is_blob_digest(out.blob) && out.blob.size() == file.digest.size();
  if (is_known && out.blob != file.digest) contradiction(what, "its ETag is not the digest in the list of files");
  // A mirror may have ETags of its own.
  if (!folders::is_blob_digest(out.blob) && !file.digest.empty()) out.blob = file.digest;
  if (!folders::is_blob_name(out.blob))
    throw make_error(ErrorCode::unavailable, "the server does not say which version of ", what,
                     " it has: it states no ETag");
  out.digest = folders::is_blob_digest(out.blob) ? out.blob : std::string();
  const auto bytes = bytes_of(head, file);
  if (!bytes) throw make_error(ErrorCode::unavailable, "the server does not say how many bytes ", what, " has");
  if (file.bytes && *file.bytes != *bytes)
    contradiction(what, "it has " + std::to_string(*bytes) + " bytes, and " + std::to_string(*file.bytes) +
                            " in the list of files");
  if (*bytes > kMostFileBytes)
    throw make_error(ErrorCode::resource_exhausted, what, " has ", *bytes,
                     " bytes, which is more than any model's file");
  out.bytes = *bytes;
  return out;
}

}  // namespace alate::hub
