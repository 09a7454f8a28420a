#include "runtime/batching/current_error.h"

#include <new>

#include "alate/error.h"

namespace alate::runtime {

std::exception_ptr current_error() {
  try {
    throw;
  } catch (const Error&) {
    return std::current_exception();
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(
        Error(ErrorCode::resource_exhausted,
              "there is not enough memory to compute this; send fewer or shorter inputs at a time"));
  } catch (const std::exception& error) {
    return std::make_exception_ptr(Error(ErrorCode::internal, "computing failed").with_cause(error));
  } catch (...) {
    return std::make_exception_ptr(Error(ErrorCode::internal, "computing failed with something that is no exception"));
  }
}

}  // namespace alate::runtime
