// One error for several who wait for it.
#pragma once

#include <exception>

namespace alate::base {

/// A pointer to an exception object of its own when `error` is an alate::Error, else `error`. For handing one failure
/// to several threads: an exception object that is thrown in many at once is shared state that none of them sees.
std::exception_ptr copy_of(const std::exception_ptr& error);

}  // namespace alate::base
