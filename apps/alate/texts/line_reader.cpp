#include "apps/alate/texts/line_reader.h"

#include <cerrno>
#include <system_error>

#include "alate/error.h"
#include "base/files/descriptor_io.h"

namespace alate::app {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 30;

}  // namespace

LineReader::LineReader(const std::filesystem::path& path)
    : name_(path.empty() ? "standard input" : path.string()), descriptor_(base::kStandardInput) {
  if (path.empty()) return;
  descriptor_ = base::open_descriptor_to_read(path);
  if (descriptor_ >= 0) return;
  throw make_error(errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::unavailable, "cannot open ",
                   name_, ": ", std::generic_category().message(errno));
}

LineReader::~LineReader() {
  if (descriptor_ != base::kStandardInput) (void)base::close_descriptor(descriptor_);
}

bool LineReader::read_more() {
  buffer_.erase(0, from_);
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
  return got > 0;
}

std::optional<std::string_view> LineReader::next() {
  std::size_t searched = from_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer_).substr(from_, end - from_);
      from_ = end + 1;
      ++number_;
      return line;
    }
    const std::size_t waiting = buffer_.size() - from_;
    if (!at_end_ && read_more()) {
      searched = waiting;
      continue;
    }
    at_end_ = true;
    if (waiting == 0) return std::nullopt;
    const std::string_view line = std::string_view(buffer_).substr(from_);
    from_ = buffer_.size();
    ++number_;
    return line;
  }
}

std::string LineReader::place() const { return "line " + std::to_string(number_) + " of " + name_; }

}  // namespace alate::app
