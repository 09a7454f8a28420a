#include "hub/download/hub_access.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "base/os/environment.h"
#include "folders/cache_layout.h"

namespace alate::hub {
namespace {

constexpr std::string_view kEndpoint = "https://huggingface.co";
constexpr std::size_t kMostTokenBytes = 8192;

bool is_true(const char* name) {
  const std::string value = base::ascii_upper(base::environment(name).value_or(""));
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string without_white_space(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n' || c == ' ' || c == '\t'; });
  return text;
}

std::string token_of_file() {
  const auto named = base::environment("HF_TOKEN_PATH");
  std::filesystem::path file;
  try {
    file = named ? std::filesystem::path(*named) : folders::huggingface_home() / "token";
  } catch (const Error&) {
    return {};  // there is no home folder
  }
  return base::is_file(file) ? base::read_text_file(file, kMostTokenBytes) : std::string();
}

}  // namespace

std::string hub_endpoint() { return base::environment("HF_ENDPOINT").value_or(std::string(kEndpoint)); }

std::string hub_token() {
  if (is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return {};
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (auto token = base::environment(name)) return without_white_space(*std::move(token));
  }
  return without_white_space(token_of_file());
}

bool is_hub_offline() { return is_true("HF_HUB_OFFLINE") || is_true("TRANSFORMERS_OFFLINE"); }

HubAccess::HubAccess(std::string_view endpoint, std::string token, std::chrono::milliseconds timeout,
                     RetryPolicy retries, std::stop_token stop)
    : endpoint_(parse_http_url(endpoint)),
      token_(std::move(token)),
      timeout_(timeout),
      retries_(retries),
      stop_(std::move(stop)) {
  while (endpoint_.target.ends_with('/')) endpoint_.target.pop_back();
  if (!std::ranges::all_of(token_, [](char c) { return c > 0x20 && c < 0x7f; }))
    throw Error(
        ErrorCode::invalid_argument,
        "the token of the hub has characters that no token has: look at HF_TOKEN, or the file token in HF_HOME");
}

HubAccess HubAccess::of_registry() const {
  HubAccess copy = *this;
  copy.is_registry_ = true;
  return copy;
}

HubAccess HubAccess::with_stop(std::stop_token stop) const {
  HubAccess copy = *this;
  copy.stop_ = std::move(stop);
  return copy;
}

HttpUrl HubAccess::url(std::string_view target) const {
  HttpUrl url = endpoint_;
  url.target += target;
  return url;
}

HttpUrl HubAccess::file_url(std::string_view id, std::string_view commit, std::string_view name) const {
  return url("/" + std::string(id) + "/resolve/" + percent_encoded(commit) + "/" + percent_encoded(name, "/"));
}

HttpRequest HubAccess::request(std::string method) const {
  return {.method = std::move(method), .token = token_, .token_origin = endpoint_};
}

HttpLimits HubAccess::limits(std::uint64_t max_bytes) const {
  return {.max_bytes = max_bytes, .timeout = timeout_, .stop = stop_};
}

std::string HubAccess::read_text(const HttpUrl& url, std::string_view id, std::uint64_t max_bytes) const {
  return with_retries(retries_, stop_, [&] {
    std::string text;
    exchange_following(
        url, request("GET"), limits(max_bytes), Redirects::anywhere,
        [&](const HttpHead& head) {
          if (head.status != 200) refuse(head, id);
          return true;
        },
        [&](std::span<const std::byte> piece) {
          text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        });
    return text;
  });
}

void HubAccess::refuse_of_registry(const HttpHead& head, const std::string& model) const {
  const std::string where = head.url.shown();
  if (head.status == 404 || head.status == 410)
    throw make_error(ErrorCode::not_found, "the registry at ", endpoint_.authority(), " has no ", model,
                     ": there is nothing at ", where);
  if (head.status == 401 || head.status == 403)
    throw make_error(ErrorCode::unauthenticated, "the registry at ", endpoint_.authority(), " forbids ", model, ": ",
                     where, " answers ", head.status);
  throw make_error(ErrorCode::unavailable, where, " answers ", head.status, ", which is nothing of a registry");
}

// The hub says in X-Error-Code what is missing or forbidden; to askers without a right to know that a model exists, it
// answers as if it did not, with 401.
void HubAccess::refuse(const HttpHead& head, std::string_view id) const {
  const std::string model(id), page = url("/" + model).shown(), host = head.url.authority();
  const std::string_view kind = head.field("x-error-code");
  const int status = head.status;
  if (status == 408 || status == 429 || status >= 500)
    throw BusyServer(host + " answers " + std::to_string(status) + " for " + model +
                         (status == 429 ? ": it allows no more requests now, try again later" : ": try again later"),
                     parse_retry_after(head.field("retry-after"), std::chrono::system_clock::now()));
  if (is_registry_) refuse_of_registry(head, model);
  if (kind == "GatedRepo")
    throw make_error(ErrorCode::unauthenticated, model, " is gated: accept its licence at ", page,
                     has_token() ? ", with the account of the token in HF_TOKEN" : ", and set HF_TOKEN to your token");
  if (kind == "RevisionNotFound")
    throw make_error(ErrorCode::not_found, model, " has no such revision at ", head.url.shown());
  if (kind == "EntryNotFound") throw make_error(ErrorCode::not_found, model, " has no file ", head.url.shown());
  const bool is_endpoint = head.url.has_origin_of(endpoint_);
  if (is_endpoint && (kind == "RepoNotFound" || status == 404 || status == 410 || (status == 401 && !has_token())))
    throw make_error(ErrorCode::not_found, "there is no model ", model, " at ", host,
                     ", or it is private: check its name", has_token() ? "" : ", or set HF_TOKEN");
  if (status == 404 || status == 410)
    throw make_error(ErrorCode::not_found, host, " does not have the file of ", model,
                     " that the hub sends to (status ", status, ")");
  if (status == 401)
    throw make_error(ErrorCode::unauthenticated, host, " does not take the token for ", model,
                     " (status 401): make a new one, and set HF_TOKEN");
  if (status == 403)
    throw make_error(ErrorCode::unauthenticated, host, " forbids ", model, " (status 403): see ", page,
                     has_token() ? "" : ", and set HF_TOKEN");
  throw make_error(ErrorCode::unavailable, host, " answers ", status, " for ", model, ", which is no file");
}

}  // namespace alate::hub
