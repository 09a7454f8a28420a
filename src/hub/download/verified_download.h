// A file from one address into a part file, compared with the digest that it must have.
#pragma once

#include <string>

#include "hub/download/hub_access.h"
#include "hub/download/part_file.h"
#include "hub/download/ranged_download.h"

namespace alate::hub {

/// How often a file that arrives damaged, or whose address ends, is asked for in all.
inline constexpr int kMostFileAttempts = 3;

/// Whether the part is complete and has the digest; false where it must be asked for again, and the part begins anew if
/// its bytes were wrong. With `is_last` throws corrupt for a wrong digest and unavailable for an address that has
/// ended. `digest` may be empty: it cannot be verified. Throws as download_ranges; cancelled.
bool download_verified(const HubAccess& access, const RangedSource& source, PartFile& part, const std::string& digest,
                       const RangedOptions& options, const OnBytes& on_bytes, bool is_last);

}  // namespace alate::hub
