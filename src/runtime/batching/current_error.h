// What a model threw, for those who wait for its results.
#pragma once

#include <exception>

namespace alate::runtime {

/// The exception being handled, as an Error.
std::exception_ptr current_error();

}  // namespace alate::runtime
