#include "tests/conformance/modes.h"

namespace alate::conformance {
int run_perf(backends::Backend&, const Options&) { return 0; }
}  // namespace alate::conformance
