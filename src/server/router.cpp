#include "server/router.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace alate::server {
namespace {

// A segment of a path in the table: literal text, or a parameter name in braces.
struct Segment {
  std::string_view text;  // without the braces
  bool is_parameter = false;
  std::size_t most() const { return is_parameter && text == "model" ? 2 : 1; }  // request path segments it may match
};

// One path of a row: its own, or an alias.
struct Pattern {
  std::size_t row = 0;
  std::vector<Segment> segments;
  std::size_t literals = 0;
  std::size_t most = 0;  // most segments it can match
};

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> segments;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  // "/" has no segments, so that a base path is the same with and without a trailing slash.
  if (segments.size() == 1 && segments.front().empty()) segments.clear();
  return segments;
}

Pattern pattern_of(std::string_view path, std::size_t row) {
  Pattern pattern{row, {}, 0, 0};
  for (const std::string_view text : split(path)) {
    const bool is_parameter = text.starts_with('{') && text.ends_with('}');
    pattern.segments.push_back({is_parameter ? text.substr(1, text.size() - 2) : text, is_parameter});
    pattern.literals += is_parameter ? 0 : 1;
    pattern.most += pattern.segments.back().most();
  }
  return pattern;
}

// Number of path segments matched by each segment of a pattern.
using Lengths = std::vector<std::size_t>;

// Whether the pattern's segments from `i` on match the path's from `j` on; short matches of parameters are tried first.
bool fits(const Pattern& pattern, const std::vector<std::string>& path, std::size_t i, std::size_t j,
          Lengths& lengths) {
  if (i == pattern.segments.size()) return j == path.size();
  const Segment& segment = pattern.segments[i];
  for (std::size_t length = 1; length <= segment.most() && j + length <= path.size(); ++length) {
    if (path[j + length - 1].empty()) return false;
    if (!segment.is_parameter && path[j] != segment.text) return false;
    lengths[i] = length;
    if (fits(pattern, path, i + 1, j + length, lengths)) return true;
  }
  return false;
}

std::map<std::string, std::string, std::less<>> parameters_of(const Pattern& pattern,
                                                              const std::vector<std::string>& path,
                                                              const Lengths& lengths) {
  std::map<std::string, std::string, std::less<>> parameters;
  std::size_t j = 0;
  for (std::size_t i = 0; i < pattern.segments.size(); j += lengths[i++]) {
    if (!pattern.segments[i].is_parameter) continue;
    std::string value = path[j];
    if (lengths[i] == 2) value += "/" + path[j + 1];
    parameters.emplace(pattern.segments[i].text, std::move(value));
  }
  return parameters;
}

// The path's segments, decoded after splitting so that "%2F" does not split; nothing if one does not decode.
std::optional<std::vector<std::string>> decoded(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view raw : split(path)) {
    if (raw.find('%') == std::string_view::npos) {
      segments.emplace_back(raw);
    } else if (auto text = percent_decode(raw)) {
      segments.push_back(std::move(*text));
    } else {
      return {};
    }
  }
  return segments;
}

std::string normal_base_path(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  if (!path.empty() && !path.starts_with('/')) path.insert(0, "/");
  return path;
}

void allow(std::vector<Method>& allowed, Method method) {
  if (std::ranges::find(allowed, method) == allowed.end()) allowed.push_back(method);
  if (method == Method::get) allow(allowed, Method::head);
}

}  // namespace

struct Router::State {
  std::vector<Route> routes;
  std::string base_path;
  std::vector<Pattern> patterns;  // sorted by number of literals, most first

  void look_up(Method method, std::string_view path, bool open_only, Match& match) const;
};

Router::Router(std::vector<Route> routes, std::string base_path) : state_(std::make_unique<State>()) {
  state_->routes = std::move(routes);
  state_->base_path = normal_base_path(std::move(base_path));
  for (std::size_t row = 0; row < state_->routes.size(); ++row) {
    state_->patterns.push_back(pattern_of(state_->routes[row].path, row));
    for (const std::string_view alias : state_->routes[row].aliases) state_->patterns.push_back(pattern_of(alias, row));
  }
  std::ranges::stable_sort(state_->patterns, std::greater<>(), &Pattern::literals);
}

Router::~Router() = default;

// The best pattern determines what the path is, and all equally good patterns determine its methods: a path that a
// literal row has only for POST does not become a model's name under GET.
void Router::State::look_up(Method method, std::string_view path, bool open_only, Match& match) const {
  const auto segments = decoded(path);
  if (!segments) return;
  Lengths lengths;
  std::optional<std::size_t> literals;
  for (const Pattern& pattern : patterns) {
    if (literals && pattern.literals < *literals) break;
    if (segments->size() < pattern.segments.size() || segments->size() > pattern.most) continue;
    const Route& route = routes[pattern.row];
    if (open_only && route.access != Access::open) continue;
    lengths.assign(pattern.segments.size(), 0);
    if (!fits(pattern, *segments, 0, 0, lengths)) continue;
    literals = pattern.literals;
    allow(match.allowed, route.method);
    const bool same = route.method == method || (method == Method::head && route.method == Method::get);
    if (!same || match.route != nullptr) continue;
    match.route = &route;
    match.parameters = parameters_of(pattern, *segments, lengths);
  }
}

Router::Match Router::find(Method method, std::string_view path) const {
  Match match;
  const std::string& base = state_->base_path;
  if (path.starts_with(base) && (path.size() == base.size() || path[base.size()] == '/'))
    state_->look_up(method, path.substr(base.size()), false, match);
  if (!base.empty() && match.allowed.empty()) state_->look_up(method, path, true, match);
  std::ranges::sort(match.allowed);
  return match;
}

std::span<const Route> Router::routes() const { return state_->routes; }
const std::string& Router::base_path() const { return state_->base_path; }

}  // namespace alate::server
