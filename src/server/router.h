// Finds the row of the route table for a request.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/exchange/route.h"

namespace alate::server {

/// Finds rows by method and path. Immutable; thread-safe.
class Router {
 public:
  /// Every path is prefixed with `base_path` ("" or "/something"); paths of Access::open are served with and without
  /// it.
  explicit Router(std::vector<Route> routes, std::string base_path = "");
  ~Router();

  struct Match {
    const Route* route = nullptr;  // null: no route for this method
    std::map<std::string, std::string, std::less<>> parameters;
    std::vector<Method> allowed;  // methods of the path, for Allow; empty: no such path
  };
  /// Literal segments win over {…}. HEAD matches a GET route. A path with an invalid escape matches nothing.
  Match find(Method method, std::string_view path) const;

  std::span<const Route> routes() const;
  const std::string& base_path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
