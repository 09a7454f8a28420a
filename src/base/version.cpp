#include "alate/version.h"

namespace alate {

std::string_view version() { return ALATE_VERSION; }

}  // namespace alate
