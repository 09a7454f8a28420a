#include "hub/http/https_download.h"

#include "alate/error.h"
#include "hub/http/http_exchange.h"

namespace alate::hub {
namespace {

void require_file(const HttpHead& head) {
  if (head.status == 200) return;
  const std::string url = head.url.shown(), what = "the server answers " + std::to_string(head.status);
  if (head.status == 404 || head.status == 410) throw make_error(ErrorCode::not_found, "there is no ", url, ": ", what);
  if (head.status == 401 || head.status == 403)
    throw make_error(ErrorCode::unauthenticated, "may not fetch ", url, ": ", what);
  throw make_error(ErrorCode::unavailable, "cannot fetch ", url, ": ", what);
}

}  // namespace

Download download(const HttpUrl& url, const DownloadOptions& options, const DownloadSink& sink) {
  Download out;
  std::uint64_t total = 0;
  const HttpHead head = exchange_following(
      url, {.fields = {{"Accept", options.accept}}},
      {.max_bytes = options.max_bytes, .timeout = options.timeout, .most_redirects = options.most_redirects},
      Redirects::anywhere,
      [&](const HttpHead& answer) {
        require_file(answer);
        total = answer.length.value_or(0);
        return true;
      },
      [&](std::span<const std::byte> piece) {
        out.bytes += piece.size();
        sink(piece, total);
      });
  out.url = head.url;
  out.content_type = head.field("content-type");
  return out;
}

DownloadedText download_text(const HttpUrl& url, const DownloadOptions& options) {
  DownloadedText out;
  out.facts = download(url, options, [&](std::span<const std::byte> piece, std::uint64_t) {
    out.text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return out;
}

}  // namespace alate::hub
