// What a hub's HEAD answer says about one file.
#pragma once

#include <cstdint>
#include <string>

#include "hub/download/hub_access.h"
#include "hub/download/remote_model.h"
#include "hub/http/http_url.h"

namespace alate::hub {

struct FileMetadata {
  std::string blob;    // the name of its blob in the cache: the ETag
  std::string digest;  // is_blob_digest, or empty: it cannot be verified
  std::uint64_t bytes = 0;
  HttpUrl location;  // where the bytes are: the hub, or another host
};

/// Asks with HEAD, as huggingface_hub does: X-Linked-Etag before ETag, X-Linked-Size before Content-Length, Location
/// for a redirect to another origin. Throws as HubAccess::refuse, after retries; corrupt where this contradicts the
/// listing or the commit; unavailable for a server that does not say what is needed.
FileMetadata read_file_metadata(const HubAccess& access, const std::string& id, const std::string& commit,
                                const RemoteFile& file);

/// `W/"abc"` as `abc`.
std::string normalized_etag(std::string_view etag);

}  // namespace alate::hub
