// Which backend runs which op for which dtype, and how.
#pragma once

#include <string>

namespace alate::conformance {

/// docs/ops.md: the op table's page, and behind it a table of ops and dtypes for each backend.
std::string ops_page();

}  // namespace alate::conformance
