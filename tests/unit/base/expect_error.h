// The error that a call throws.
#pragma once

#include <gtest/gtest.h>

#include "alate/error.h"

namespace alate::base {

/// The error that `call` throws; a failed expectation and an internal error without a message when it throws none.
template <typename Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(ErrorCode::internal, "");
}

}  // namespace alate::base
