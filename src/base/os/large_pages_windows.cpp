#include "base/os/large_pages.h"

namespace alate::base {

// Windows grants large pages only to accounts that may lock memory, and only when requested at allocation.
void prefer_large_pages(void*, std::size_t) {}

}  // namespace alate::base
