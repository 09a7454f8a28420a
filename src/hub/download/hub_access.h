// A Hugging Face hub, or a server that has its routes: where it is, who asks, and what its answers mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hub/download/retries.h"
#include "hub/http/http_exchange.h"
#include "hub/http/http_url.h"

namespace alate::hub {

/// The endpoint that HF_ENDPOINT names, else https://huggingface.co.
std::string hub_endpoint();
/// HF_TOKEN, HUGGING_FACE_HUB_TOKEN, or the text of the file HF_TOKEN_PATH, else huggingface_home()/token; empty if
/// there is none, or with HF_HUB_DISABLE_IMPLICIT_TOKEN.
std::string hub_token();
/// Whether HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids the network.
bool is_hub_offline();

/// Immutable; safe to share among threads.
class HubAccess {
 public:
  /// Throws invalid_argument for an endpoint that is no web address, and for a token that no header can have. Errors
  /// never contain the token.
  HubAccess(std::string_view endpoint, std::string token, std::chrono::milliseconds timeout, RetryPolicy retries,
            std::stop_token stop);

  /// The same for a registry of models: its errors speak of that.
  HubAccess of_registry() const;
  /// The same with another stop.
  HubAccess with_stop(std::stop_token stop) const;

  /// Of the API or of a file, below the endpoint: "/api/models/...".
  HttpUrl url(std::string_view target) const;
  HttpUrl file_url(std::string_view id, std::string_view commit, std::string_view name) const;
  /// With the token, for the endpoint's origin only.
  HttpRequest request(std::string method) const;
  HttpLimits limits(std::uint64_t max_bytes) const;
  const RetryPolicy& retries() const { return retries_; }
  const std::stop_token& stop() const { return stop_; }
  const HttpUrl& endpoint() const { return endpoint_; }
  bool has_token() const { return !token_.empty(); }
  /// What kind of server it is, for messages: "the hub", "the registry".
  std::string_view role() const { return is_registry_ ? "the registry" : "the hub"; }

  /// A small text, with retries.
  std::string read_text(const HttpUrl& url, std::string_view id, std::uint64_t max_bytes) const;

  /// Throws what a status other than success means: BusyServer for 408, 429 and 5xx; not_found for a missing model,
  /// revision or file; unauthenticated for a gated model, with the page of its licence, and for other refusals.
  [[noreturn]] void refuse(const HttpHead& head, std::string_view id) const;

 private:
  [[noreturn]] void refuse_of_registry(const HttpHead& head, const std::string& model) const;

  bool is_registry_ = false;
  HttpUrl endpoint_;  // its target has no / at the end
  std::string token_;
  std::chrono::milliseconds timeout_;
  RetryPolicy retries_;
  std::stop_token stop_;
};

}  // namespace alate::hub
