#include "hub/download/hub_source.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "alate/error.h"
#include "base/files/file_lock.h"
#include "base/log.h"
#include "hub/cache_layout.h"
#include "hub/download/file_metadata.h"
#include "hub/download/part_file.h"

namespace alate::hub {
namespace {

constexpr int kMostAttempts = 3;

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
  std::atomic<std::int64_t> received{0};
  const auto note = [&](std::int64_t bytes) {
    received += bytes;
    on_bytes(bytes);
  };
  try {
    download_ranges(access, {.url = facts.location, .id = writer.repo().id(), .name = file.name}, part, options, note);
  } catch (const StaleAddress& stale) {
    on_bytes(-received);
    if (stale.why == StaleAddress::Why::changed) part.discard();
    if (is_last) throw Error(ErrorCode::unavailable, stale.message + ": try again later");
    base::log(base::LogLevel::info, "asking the hub again", {{"reason", stale.message}});
    return false;
  }
  if (access.stop().stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
  const std::string digest = part.finish_digest();
  if (digest == facts.digest) {
    part.publish(writer.repo().blob(facts.blob));
    writer.link(file.name, facts.blob);
    return true;
  }
  part.discard();
  on_bytes(-received);
  if (is_last)
    throw make_error(ErrorCode::corrupt, writer.repo().id(), "/", file.name, " has the digest ", digest,
                     ", and the hub states ", facts.digest, ": the server or the network changes it");
  base::log(base::LogLevel::warn, "a file was damaged on its way, and is fetched again", {{"file", file.name}});
  return false;
}

}  // namespace

RemoteModel HubSource::list(const std::string& id, const std::string& revision) const {
  const HttpUrl url = access_.url("/api/models/" + id + "/revision/" + percent_encoded(revision) + "?blobs=true");
  RemoteModel model = parse_remote_model(access_.read_text(url, id, kMostListingBytes), listing_name(id));
  model.revision = revision;
  if (is_commit_hash(revision) && model.commit != revision)
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
    if (try_fetch(access, writer, file, facts, {.connections = connections_}, on_bytes, attempt == kMostAttempts))
      return;
  }
}

}  // namespace alate::hub
