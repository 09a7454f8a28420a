#include "base/error_copy.h"

#include "alate/error.h"

namespace alate::base {

std::exception_ptr copy_of(const std::exception_ptr& error) {
  if (error == nullptr) return error;
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return std::make_exception_ptr(thrown);
  } catch (...) {
    return error;
  }
}

}  // namespace alate::base
