#include "server/http/head_scanner.h"

#include <algorithm>

namespace alate::server {
namespace {

// Real methods are far shorter; a longer first word cannot begin a request line.
constexpr std::size_t kMaxMethodBytes = 32;
constexpr std::string_view kVersionPrefix = "HTTP/";

bool is_control(char byte) { return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t') || byte == 0x7f; }
bool is_visible_ascii(char byte) { return byte > 0x20 && byte < 0x7f; }

}  // namespace

HeadScanner::Result HeadScanner::refuse(int status, std::string_view message) {
  refusal_ = {status, std::string(message), std::nullopt};
  return Result::refused;
}

HeadScanner::Result HeadScanner::check_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || first > kMaxMethodBytes || first == last)
    return refuse(400, "the request line is not 'METHOD TARGET HTTP/1.1'");
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with(kVersionPrefix)) return refuse(400, "the request line is not 'METHOD TARGET HTTP/1.1'");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "this server speaks HTTP/1.1 and HTTP/1.0");
  if (target.size() > limits_.max_target_bytes) return refuse(414, "the request target is too long");
  if (!std::all_of(target.begin(), target.end(), is_visible_ascii))
    return refuse(400, "the request target holds a byte that must be percent-encoded");
  return Result::incomplete;
}

HeadScanner::Result HeadScanner::check_unfinished(std::string_view input) {
  if (lines_ == 0) {
    const std::size_t method_end = input.find(' ');
    if (std::min(method_end, input.size()) > kMaxMethodBytes)
      return refuse(400, "the request line is not 'METHOD TARGET HTTP/1.1'");
    if (input.size() > limits_.max_target_bytes + kMaxMethodBytes) return refuse(414, "the request target is too long");
  }
  if (input.size() > limits_.max_header_bytes) return refuse(431, "the request's headers are too long");
  return Result::incomplete;
}

HeadScanner::Result HeadScanner::scan(std::string_view input) {
  // If the last byte is a CR, it is checked together with the byte after it.
  for (; position_ < input.size(); ++position_) {
    const char byte = input[position_];
    if (position_ == line_begin_ && lines_ > 0 && (byte == ' ' || byte == '\t'))
      return refuse(400, "a header goes on over several lines");
    if (byte == '\r') {
      if (position_ + 1 == input.size()) break;
      if (input[position_ + 1] != '\n') return refuse(400, "a line does not end in CR LF");
      if (position_ + 2 > limits_.max_header_bytes) break;
      const std::string_view line = input.substr(line_begin_, position_ - line_begin_);
      ++position_;
      line_begin_ = position_ + 1;
      if (lines_ == 0) {
        if (check_request_line(line) == Result::refused) return Result::refused;
      } else if (line.empty()) {
        ++position_;
        return Result::complete;
      }
      if (++lines_ > limits_.max_header_count + 1) return refuse(431, "the request has too many headers");
    } else if (byte == '\n') {
      return refuse(400, "a line does not end in CR LF");
    } else if (is_control(byte)) {
      return refuse(400, "the request's head holds a control character");
    }
  }
  return check_unfinished(input);
}

}  // namespace alate::server
