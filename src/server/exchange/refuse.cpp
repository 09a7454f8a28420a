#include "server/exchange/refuse.h"

#include <utility>

namespace alate::server {

void refuse(Problem::Kind kind, std::string message, std::string parameter) {
  Problem problem;
  problem.kind = kind;
  problem.message = std::move(message);
  problem.parameter = std::move(parameter);
  throw RequestError(std::move(problem));
}

}  // namespace alate::server
