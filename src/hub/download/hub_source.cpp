#include "hub/download/hub_source.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "alate/error.h"
#include "base/files/file_lock.h"
#include "folders/cache_layout.h"
#include "hub/download/file_metadata.h"
#include "hub/download/part_file.h"
#include "hub/download/verified_download.h"

namespace alate::hub {
namespace {

// Whether the file is there now; false where it must be asked for again. Throws instead if that was the last attempt.
bool try_fetch(const HubAccess& access, const CacheWriter& writer, const RemoteFile& file, const FileMetadata& facts,
               const RangedOptions& options, const OnBytes& on_bytes, bool is_last) {
  const auto lock = writer.lock(facts.blob, access.stop());
  if (writer.has_blob(facts.blob, facts.bytes)) {  // by another process meanwhile
    on_bytes(static_cast<std::int64_t>(facts.bytes));
    writer.link(file.name, facts.blob);
    return true;
  }
  require_room(writer.repo().blobs(), missing_of_part(writer.part(facts.blob), facts.bytes), writer.repo().id());
  PartFile part(writer.part(facts.blob), facts.blob, facts.digest, facts.bytes);
  const RangedSource source{.url = facts.location, .id = writer.repo().id(), .name = file.name};
  if (!download_verified(access, source, part, facts.digest, options, on_bytes, is_last)) return false;
  part.publish(writer.repo().blob(facts.blob));
  writer.link(file.name, facts.blob);
  return true;
}

}  // namespace

RemoteModel HubSource::list(const std::string& id, const std::string& revision) const {
  const HttpUrl url = access_.url("/api/models/" + id + "/revision/" + percent_encoded(revision) + "?blobs=true");
  RemoteModel model = parse_remote_model(access_.read_text(url, id, kMostListingBytes), listing_name(id));
  model.revision = revision;
  if (folders::is_commit_hash(revision) && model.commit != revision)
    throw make_error(ErrorCode::corrupt, listing_name(id), " is of another commit than was asked for");
  return model;
}

std::string HubSource::read_text(const std::string& id, const RemoteModel& model, const RemoteFile& file) const {
  return access_.read_text(access_.file_url(id, model.commit, file.name), id, kMostListingBytes);
}

void HubSource::fetch(const CacheWriter& writer, const RemoteModel& model, const RemoteFile& file, bool is_blob_there,
                      const std::stop_token& stop, const OnBytes& on_bytes) const {
  if (is_blob_there) {
    const auto lock = writer.lock(file.digest, stop);
    writer.link(file.name, file.digest);
    return;
  }
  const HubAccess access = access_.with_stop(stop);
  for (int attempt = 1;; ++attempt) {
    const FileMetadata facts = read_file_metadata(access, writer.repo().id(), model.commit, file);
    if (try_fetch(access, writer, file, facts, {.connections = connections_}, on_bytes, attempt == kMostFileAttempts))
      return;
  }
}

}  // namespace alate::hub
