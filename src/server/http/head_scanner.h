// Finds the end of a request's head and rejects malformed or suspicious input before any parser sees it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "server/http/request_handler.h"
#include "server/http/transport_settings.h"

namespace alate::server {

/// Scans each byte once. A head passes if every line ends in CRLF, no line begins with whitespace (no obs-fold), no
/// byte is a control character, the request line is METHOD TARGET HTTP/1.0 or HTTP/1.1 with a target of visible ASCII,
/// and everything stays within the limits.
class HeadScanner {
 public:
  explicit HeadScanner(const TransportSettings& limits) : limits_(limits) {}

  enum class Result { incomplete, complete, refused };
  /// `input` begins with the head and contains at least the bytes of the previous call.
  Result scan(std::string_view input);

  std::size_t head_bytes() const { return position_; }  // when complete: includes the empty line at the end
  const Refusal& refusal() const { return refusal_; }   // when refused

 private:
  Result refuse(int status, std::string_view message);
  Result check_request_line(std::string_view line);
  Result check_unfinished(std::string_view input);

  const TransportSettings& limits_;
  std::size_t position_ = 0;  // of the next byte to scan
  std::size_t line_begin_ = 0;
  std::size_t lines_ = 0;  // complete ones, including the request line
  Refusal refusal_;
};

}  // namespace alate::server
