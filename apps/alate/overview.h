// What `alate` alone says.
#pragma once

#include <string>

namespace alate::app {

std::string overview();

}  // namespace alate::app
