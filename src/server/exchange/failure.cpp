#include "server/exchange/failure.h"

#include <new>

#include "base/log.h"

namespace alate::server {
namespace {

// The log contains what the client is not told: paths and internal causes.
void log_failure(const Exchange& exchange, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    base::log(base::LogLevel::error, "request failed", {{"id", exchange.id()}, {"error", thrown.what()}});
  } catch (...) {
    base::log(base::LogLevel::error, "request failed", {{"id", exchange.id()}});
  }
}

bool is_cancelled(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return thrown.code() == ErrorCode::cancelled;
  } catch (...) {
    return false;
  }
}

}  // namespace

Problem problem_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RequestError& thrown) {
    return thrown.problem();
  } catch (const Error& thrown) {
    return problem_of(thrown);
  } catch (const std::bad_alloc&) {
    Problem problem;
    problem.kind = Problem::Kind::overloaded;
    problem.message = "the server has no memory left for this request; try again, or send less at a time";
    return problem;
  } catch (...) {
    Problem problem;
    problem.message = "the request failed for a reason inside the server; its log says more";
    return problem;
  }
}

Problem logged_problem(const Exchange& exchange, const std::exception_ptr& error) {
  Problem problem = problem_of(error);
  if (problem.kind == Problem::Kind::not_ready && Clock::now() >= exchange.deadline() && is_cancelled(error)) {
    problem.kind = Problem::Kind::timeout;
    problem.message = "the request took too long";
  }
  if (problem.kind == Problem::Kind::internal) log_failure(exchange, error);
  return problem;
}

void fail(Exchange& exchange, Family family, const std::exception_ptr& error) {
  exchange.reply(to_response(family, logged_problem(exchange, error)));
}

}  // namespace alate::server
