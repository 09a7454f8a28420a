#include "hub/download/verified_download.h"

#include <atomic>
#include <cstdint>

#include "alate/error.h"
#include "base/log.h"

namespace alate::hub {

bool download_verified(const HubAccess& access, const RangedSource& source, PartFile& part, const std::string& digest,
                       const RangedOptions& options, const OnBytes& on_bytes, bool is_last) {
  std::atomic<std::int64_t> received{0};
  const auto note = [&](std::int64_t bytes) {
    received += bytes;
    on_bytes(bytes);
  };
  try {
    download_ranges(access, source, part, options, note);
  } catch (const StaleAddress& stale) {
    on_bytes(-received);
    if (stale.why == StaleAddress::Why::changed) part.discard();
    if (is_last) throw Error(ErrorCode::unavailable, stale.message + ": try again later");
    base::log(base::LogLevel::info, "asking for a file again", {{"reason", stale.message}});
    return false;
  }
  if (access.stop().stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
  const std::string found = part.finish_digest();
  if (found == digest) return true;
  part.discard();
  on_bytes(-received);
  if (is_last)
    throw make_error(ErrorCode::corrupt, source.id, "/", source.name, " has the digest ", found, ", and ",
                     access.role(), " states ", digest, ": the server or the network changes it");
  base::log(base::LogLevel::warn, "a file was damaged on its way, and is fetched again", {{"file", source.name}},
            source.name + " was damaged on its way, and is fetched again");
  return false;
}

}  // namespace alate::hub
