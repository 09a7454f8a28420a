// The bytes of one file from one address, in parallel ranges, into a part file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "hub/download/hub_access.h"
#include "hub/download/part_file.h"
#include "hub/http/http_url.h"

namespace alate::hub {

/// Thrown, and no Error, since it is never the caller's: the address no longer has the file, which has been replaced,
/// or its permission ended. Ask the hub again.
struct StaleAddress {
  enum class Why { changed, expired };
  Why why;
  std::string message;
};

struct RangedSource {
  HttpUrl url;
  std::string id;    // for messages
  std::string name;  // for messages
};

struct RangedOptions {
  std::size_t connections = 4;
  // In one request: the file is divided among the connections within these bounds.
  std::uint64_t least_run_bytes = std::uint64_t{8} << 20, most_run_bytes = std::uint64_t{64} << 20;
};

/// Told of bytes that have arrived, from any thread; of a negative count where bytes must be fetched again.
using OnBytes = std::function<void(std::int64_t)>;

/// Fetches what the part lacks; when this returns, nothing is missing. A server that does not know ranges sends the
/// whole file. Throws StaleAddress; as HubAccess::refuse; the errors of PartFile; and, after retries, those of the
/// network, and unavailable for an answer of another length than was asked for.
void download_ranges(const HubAccess& access, const RangedSource& source, PartFile& part, const RangedOptions& options,
                     const OnBytes& on_bytes);

}  // namespace alate::hub
