#include "base/files/mapping_guard.h"
#include "base/libraries/foreign_opening.h"

namespace alate::base {

// Windows refuses to truncate a mapped file, so there is nothing to guard.
bool is_guarded(const std::byte* /*address*/) { return false; }

ForeignOpening::ForeignOpening() : lost_before_(0) {}
ForeignOpening::~ForeignOpening() = default;
bool ForeignOpening::has_lost_pages() const { return lost_before_ != 0; }

void catch_bus_errors() {}
void catch_bus_errors_if_unhandled() {}

}  // namespace alate::base
