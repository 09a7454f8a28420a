#include "apps/alate/texts/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "formats/foreign_encoding.h"

namespace alate::app {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 30;

}  // namespace

LineReader::LineReader(const std::filesystem::path& path)
    : name_(path.empty() ? "standard input" : path.string()), descriptor_(base::kStandardInput) {
  if (!path.empty()) descriptor_ = base::open_descriptor_to_read(path);
  if (descriptor_ >= 0) {
    start_ = base::position_in_file(descriptor_);
    return;
  }
  throw make_error(errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::unavailable, "cannot open ",
                   name_, ": ", std::generic_category().message(errno));
}

LineReader::~LineReader() {
  if (descriptor_ != base::kStandardInput) (void)base::close_descriptor(descriptor_);
}

bool LineReader::read_more() {
  buffer_.erase(0, from_);
  searched_ -= std::min(from_, searched_);
  from_ = 0;
  const std::size_t had = buffer_.size();
  if (had > kLongestLine)
    throw make_error(ErrorCode::resource_exhausted, "line ", number_ + 1, " of ", name_, " is over ", kLongestLine,
                     " bytes; split it");
  buffer_.resize(had + kReadBytes);
  const std::ptrdiff_t got = base::read_descriptor(descriptor_, buffer_.data() + had, kReadBytes);
  const int problem = errno;
  buffer_.resize(had + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0)
    throw make_error(ErrorCode::unavailable, "cannot read ", name_, ": ", std::generic_category().message(problem));
  at_end_ = got == 0;
  return !at_end_;
}

std::size_t LineReader::find_end() {
  const std::size_t end = buffer_.find('\n', std::max(from_, searched_));
  searched_ = std::min(end, buffer_.size());
  return end;
}

std::string_view LineReader::take(std::size_t length) {
  std::string_view line = std::string_view(buffer_).substr(from_, length);
  if (number_++ == 0) {
    const std::string_view encoding = formats::foreign_encoding(std::string_view(buffer_).substr(from_));
    if (!encoding.empty())
      throw make_error(ErrorCode::invalid_argument, name_, " is ", encoding, ", and texts are read as UTF-8; ",
                       formats::conversion_advice(encoding));
    line = formats::without_byte_order_mark(line);
  }
  return line;
}

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    if (const std::size_t end = find_end(); end != std::string::npos) {
      const std::string_view line = take(end - from_);
      advance(end + 1);
      return line;
    }
    if (!at_end_ && read_more()) continue;
    if (from_ == buffer_.size()) return std::nullopt;
    const std::string_view line = take(buffer_.size() - from_);
    advance(buffer_.size());
    return line;
  }
}

bool LineReader::has_line_within(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!at_end_ && find_end() == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (!base::wait_for_input(descriptor_, std::max(left, std::chrono::milliseconds(0)))) return false;
    read_more();
  }
  return true;
}

std::optional<std::string_view> LineReader::peek() {
  const std::size_t end = find_end();
  if (end == std::string::npos) return std::nullopt;
  return std::string_view(buffer_).substr(from_, end - from_);
}

void LineReader::rewind() {
  if (!base::seek_in_file(descriptor_, start_))
    throw make_error(ErrorCode::unavailable, "cannot read ", name_, " again from its start");
  buffer_.clear();
  from_ = searched_ = number_ = 0;
  returned_ = 0;
  digest_ = {};
  at_end_ = false;
}

void LineReader::advance(std::size_t to) {
  if (keeps_digest_) digest_.add(std::as_bytes(std::span(buffer_).subspan(from_, to - from_)));
  returned_ += static_cast<std::int64_t>(to - from_);
  from_ = to;
}

InputPosition LineReader::position() const {
  return {.bytes = returned_, .lines = number_, .digest = base::Sha256(digest_).finish()};
}

std::optional<double> LineReader::share() const {
  const std::int64_t bytes = start_ < 0 ? -1 : base::bytes_of_file(descriptor_) - start_;
  if (bytes <= 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(returned_) / static_cast<double>(bytes));
}

std::string LineReader::place() const { return "line " + std::to_string(number_) + " of " + name_; }

}  // namespace alate::app
