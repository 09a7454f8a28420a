// Copies of an error for several waiting threads.
#pragma once

#include <exception>

namespace alate::base {

/// A pointer to a separate exception object if `error` is an alate::Error, otherwise `error`. For passing one failure
/// to several threads: an exception object thrown in several threads at once is hidden shared state.
std::exception_ptr copy_of(const std::exception_ptr& error);

}  // namespace alate::base
