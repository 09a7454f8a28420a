#include "server/pulls/pull_failure.h"

#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "server/exchange/family.h"

namespace alate::server {
namespace {

Problem pull_problem(Problem::Kind kind, std::string message) {
  Problem problem;
  problem.kind = kind;
  problem.message = std::move(message);
  return problem;
}

Problem problem_of_pull(const std::string& name, const Error& error) {
  const std::string model = formats::quoted_name(name);
  switch (error.code()) {
    case ErrorCode::not_found: {
      Problem problem =
          pull_problem(Problem::Kind::no_model,
                       "the hub has no model " + model + " with this revision and variant, or shows it to others only");
      problem.parameter = "model";
      return problem;
    }
    case ErrorCode::unauthenticated:
      return pull_problem(Problem::Kind::forbidden,
                          "the hub gives " + model +
                              " only to those who may have it; whoever runs this server can accept "
                              "the model's licence there, and set HF_TOKEN");
    case ErrorCode::resource_exhausted:
      return pull_problem(Problem::Kind::too_large, model +
                                                        " is larger than this server may fetch or has room for; take a "
                                                        "smaller variant, or ask whoever runs the server");
    case ErrorCode::invalid_argument: return pull_problem(Problem::Kind::invalid, error.message());
    case ErrorCode::unsupported:
      return pull_problem(Problem::Kind::unsupported, model + " has no files that this server could run");
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return pull_problem(Problem::Kind::not_ready,
                          model +
                              " cannot be fetched at the moment: the hub does not answer as it should, or the "
                              "server cannot store it, and its log says which; asked for again, it goes on");
    case ErrorCode::cancelled:
      return pull_problem(Problem::Kind::not_ready, "the download of " + model + " was stopped; ask for it again");
    case ErrorCode::corrupt:
    case ErrorCode::internal: break;
  }
  return pull_problem(Problem::Kind::internal, "the download of " + model + " failed; the server's log says more");
}

}  // namespace

std::exception_ptr pull_failure(const std::string& name, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return std::make_exception_ptr(RequestError(problem_of_pull(name, thrown)));
  } catch (...) {
    return std::make_exception_ptr(
        RequestError(problem_of_pull(name, Error(ErrorCode::internal, "an exception of another kind"))));
  }
}

std::exception_ptr pulls_stopped() {
  return std::make_exception_ptr(
      RequestError(pull_problem(Problem::Kind::not_ready, "the server is shutting down; what was fetched is kept")));
}

}  // namespace alate::server
