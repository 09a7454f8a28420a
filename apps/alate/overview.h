// Output of `alate` without arguments.
#pragma once

#include <string>

namespace alate::app {

std::string overview();

}  // namespace alate::app
