// One HTTP/1.1 request and its answer, whose body is streamed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hub/http/http_url.h"
#include "net/http_answer.h"

namespace alate::hub {

struct HttpRequest {
  std::string method = "GET";  // or HEAD
  std::vector<std::pair<std::string, std::string>> fields = {};
  // Sent as "Authorization: Bearer TOKEN" to `token_origin` and to no other origin, whatever redirects say.
  std::string token = {};
  HttpUrl token_origin = {};
};

struct HttpLimits {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  std::chrono::milliseconds timeout{60000};  // without progress
  std::stop_token stop = {};
  int most_redirects = 8;
};

/// The status line and the header of an answer.
struct HttpHead : net::AnswerHead {
  HttpUrl url;  // that was asked

  bool is_redirect() const;
};

/// Told of an answer before its body; the body is read if it returns true.
using OnHttpHead = std::function<bool(const HttpHead&)>;
using OnHttpBody = net::OnAnswerBody;

/// Sends the request to this address only, through the proxy that the environment names. Throws unavailable for network
/// failures, for an answer that is no HTTP, ends early, or has a coding that was not asked for; deadline_exceeded for
/// one that stops or drips; cancelled; resource_exhausted for more than max_bytes; and whatever the functions throw.
HttpHead exchange(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits, const OnHttpHead& on_head,
                  const OnHttpBody& on_body);

enum class Redirects {
  anywhere,
  same_origin,  // a redirect to another origin is not followed: it is the answer
};

/// The same, with redirects: the functions see the last answer only. From https only to https. Throws also unavailable
/// for a redirect without end, to nowhere, or to something that is no web address.
HttpHead exchange_following(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits,
                            Redirects redirects, const OnHttpHead& on_head, const OnHttpBody& on_body);

/// The address that a redirect leads to. Throws unavailable.
HttpUrl redirect_target(const HttpHead& head);

}  // namespace alate::hub
