// Redirects from one address to another.
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "hub/http/http_exchange.h"

namespace alate::hub {
namespace {

[[noreturn]] void fail(const HttpUrl& url, std::string_view why) {
  throw make_error(ErrorCode::unavailable, "cannot fetch ", url.shown(), ": ", why);
}

}  // namespace

bool HttpHead::is_redirect() const {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

HttpUrl redirect_target(const HttpHead& head) {
  const std::string location(head.field("location"));
  if (location.empty()) fail(head.url, "it redirects to nowhere");
  std::optional<HttpUrl> next;
  try {
    next = resolve_http_url(head.url, location);
  } catch (const Error&) {
    fail(head.url, "it redirects to something that is no web address");
  }
  if (head.url.tls && !next->tls) fail(head.url, "it redirects to an address without TLS");
  return *std::move(next);
}

HttpHead exchange_following(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits,
                            Redirects redirects, const OnHttpHead& on_head, const OnHttpBody& on_body) {
  HttpUrl at = url;
  for (int count = 0; count <= limits.most_redirects; ++count) {
    std::optional<HttpUrl> next;
    const auto look = [&](const HttpHead& head) {
      if (!head.is_redirect()) return on_head(head);
      HttpUrl target = redirect_target(head);
      if (redirects == Redirects::same_origin && !target.has_origin_of(head.url)) return on_head(head);
      next = std::move(target);
      return false;
    };
    HttpHead head = exchange(at, request, limits, look, on_body);
    if (!next) return head;
    at = *std::move(next);
  }
  fail(url, "it redirects without end");
}

}  // namespace alate::hub
