#include "hub/download/file_start.h"

#include <algorithm>
#include <limits>
#include <span>

#include "alate/error.h"
#include "hub/download/retries.h"
#include "hub/http/http_exchange.h"

namespace alate::hub {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{128} << 10;  // most headers are shorter
constexpr std::size_t kLengthBytes = 8;

}  // namespace

std::optional<std::string> read_start(const HubAccess& access, const HttpUrl& url, const std::string& id,
                                      std::size_t count) {
  HttpRequest request = access.request("GET");
  request.fields.emplace_back("Range", "bytes=0-" + std::to_string(count - 1));
  return with_retries(access.retries(), access.stop(), [&]() -> std::optional<std::string> {
    std::string text;
    bool is_ranged = false;
    exchange_following(
        url, request, access.limits(std::numeric_limits<std::uint64_t>::max()), Redirects::anywhere,
        [&](const HttpHead& head) {
          is_ranged = head.status == 206;
          if (!is_ranged && head.status != 200) access.refuse(head, id);
          return is_ranged;
        },
        [&](std::span<const std::byte> piece) {
          if (piece.size() > count - text.size())
            throw make_error(ErrorCode::corrupt, url.authority(), " sends more bytes of ", id, " than were asked for");
          text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        });
    return is_ranged ? std::optional(std::move(text)) : std::nullopt;
  });
}

std::optional<std::string> read_safetensors_start(
    std::uint64_t bytes, const std::function<std::optional<std::string>(std::size_t count)>& start) {
  if (bytes < kLengthBytes) return std::string();
  std::optional<std::string> text = start(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kFirstBytes)));
  if (!text || text->size() < kLengthBytes) return text;
  std::uint64_t header = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) header = header << 8 | static_cast<unsigned char>((*text)[i]);
  if (header > kMostHeaderBytes || header + kLengthBytes > bytes || header + kLengthBytes <= text->size()) return text;
  return start(static_cast<std::size_t>(header) + kLengthBytes);
}

}  // namespace alate::hub
