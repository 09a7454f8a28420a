#include "base/os/large_pages.h"

namespace alate::base {

// Windows gives large pages only to accounts that may lock memory, and only to a program that asks for them from the
// start.
void prefer_large_pages(void*, std::size_t) {}

}  // namespace alate::base
