#include "tests/source_folder.h"

namespace alate {

// The one file that knows the absolute path, so that a compiler cache serves all others to any clone.
std::filesystem::path source_folder() { return ALATE_SOURCE_DIR; }

}  // namespace alate
