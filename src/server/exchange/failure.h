// Error answers for failed requests.
#pragma once

#include <exception>

#include "server/exchange/exchange.h"
#include "server/exchange/family.h"

namespace alate::server {

/// The problem behind an exception of any kind.
Problem problem_of(const std::exception_ptr& error);

/// What the request's client is told; server faults are logged with the request's id. Work that ended early because of
/// the request's deadline is a timeout.
Problem logged_problem(const Exchange& exchange, const std::exception_ptr& error);

/// Answers with logged_problem in the family's format.
void fail(Exchange& exchange, Family family, const std::exception_ptr& error);

}  // namespace alate::server
