#include "hub/download/ranged_download.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/threads/mutex.h"
#include "hub/download/parallel.h"

namespace alate::hub {
namespace {

struct ContentRange {
  std::uint64_t begin = 0, last = 0, total = 0;
};

std::optional<std::uint64_t> take_number(std::string_view& text, char end) {
  std::uint64_t value = 0;
  const auto [after, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()));
  if (end == '\0') return text.empty() ? std::optional(value) : std::nullopt;
  if (!text.starts_with(end)) return std::nullopt;
  text.remove_prefix(1);
  return value;
}

// "bytes 0-99/1000": RFC 9110, section 14.4.
std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const auto begin = take_number(text, '-'), last = begin ? take_number(text, '/') : std::nullopt,
             total = last ? take_number(text, '\0') : std::nullopt;
  if (!total) return std::nullopt;
  return ContentRange{*begin, *last, *total};
}

class RangedDownload {
 public:
  RangedDownload(const HubAccess& access, const RangedSource& source, PartFile& part, const RangedOptions& options,
                 const OnBytes& on_bytes)
      : access_(access), source_(source), part_(part), options_(options), on_bytes_(on_bytes) {}

  void run() {
    part_.release_runs();
    const std::uint64_t missing = part_.missing_bytes();
    const std::uint64_t run_bytes = std::clamp(missing / std::max<std::uint64_t>(options_.connections, 1),
                                               options_.least_run_bytes, options_.most_run_bytes);
    const std::uint64_t runs = (missing + run_bytes - 1) / run_bytes;
    run_in_parallel(std::min<std::uint64_t>(runs, options_.connections), access_.stop(),
                    [&](const std::stop_token& stop) {
                      while (!has_no_ranges_ && !stop.stop_requested()) {
                        const std::optional<PartFile::Run> run = part_.take_run(run_bytes);
                        if (!run) return;
                        fetch(*run, stop);
                      }
                    });
    if (has_no_ranges_) fetch_whole();
  }

 private:
  std::string what() const { return source_.id + "/" + source_.name; }

  [[noreturn]] void refuse_length(const std::string& why) const {
    throw make_error(ErrorCode::unavailable, what(), " comes with a wrong length: ", why);
  }

  // An address of another origin than the hub's is signed for a time only.
  void check_status(const HttpHead& head) const {
    if (head.status == 200 || head.status == 206) return;
    if (head.status == 416 || head.status == 412)
      throw StaleAddress{StaleAddress::Why::changed, what() + " was changed while it was fetched"};
    if ((head.status == 401 || head.status == 403) && !head.url.has_origin_of(access_.endpoint()))
      throw StaleAddress{StaleAddress::Why::expired, "the permission to fetch " + what() + " from " +
                                                         head.url.authority() + " has ended, or was refused"};
    access_.refuse(head, source_.id);
  }

  // All answers must be of one version of the file.
  void check_version(const HttpHead& head) {
    const std::string etag(head.field("etag"));
    const std::lock_guard<base::Mutex> lock(mutex_);
    if (!etag_) etag_ = etag;
    if (*etag_ != etag) throw StaleAddress{StaleAddress::Why::changed, what() + " was changed while it was fetched"};
  }

  void check_range(const HttpHead& head, std::uint64_t begin, std::uint64_t end) const {
    const auto range = parse_content_range(head.field("content-range"));
    if (!range || range->begin != begin || range->last + 1 != end)
      refuse_length("asked for the bytes from " + std::to_string(begin) + " to " + std::to_string(end) +
                    ", the server answers " + shown(head.field("content-range")));
    if (range->total != part_.bytes())
      throw StaleAddress{StaleAddress::Why::changed, what() + " has " + std::to_string(range->total) +
                                                         " bytes by now, not " + std::to_string(part_.bytes())};
  }

  static std::string shown(std::string_view text) {
    return text.empty() ? "without saying which" : "'" + std::string(text.substr(0, 100)) + "'";
  }

  // Bytes from `at` on, which grows with them.
  void receive(const HttpUrl& url, const PartFile::Run& run, std::uint64_t& at, bool is_ranged, std::stop_token stop) {
    HttpRequest request = access_.request("GET");
    if (is_ranged)
      request.fields.emplace_back("Range", "bytes=" + std::to_string(at) + "-" + std::to_string(run.end - 1));
    HttpLimits limits = access_.limits(std::numeric_limits<std::uint64_t>::max());  // checked below
    limits.stop = std::move(stop);
    exchange_following(
        url, request, limits, Redirects::anywhere,
        [&](const HttpHead& head) {
          check_status(head);
          check_version(head);
          if (is_ranged && head.status == 200) {
            has_no_ranges_ = true;
            return false;
          }
          if (is_ranged) check_range(head, at, run.end);
          if (head.length && *head.length != run.end - at)
            refuse_length("it states " + std::to_string(*head.length) + " bytes instead of " +
                          std::to_string(run.end - at));
          return true;
        },
        [&](std::span<const std::byte> piece) {
          if (piece.size() > run.end - at) refuse_length("more bytes come than were asked for");
          part_.write(at, piece);
          at += piece.size();
          part_.complete(run, at);
          on_bytes_(static_cast<std::int64_t>(piece.size()));
        });
  }

  void fetch(const PartFile::Run& run, const std::stop_token& stop) {
    std::uint64_t at = run.begin, before = at;
    const bool is_whole = run.begin == 0 && run.end == part_.bytes();
    Retries retries(access_.retries(), stop);
    const auto after = [&](const auto& error) {
      if (at > before) retries.note_progress();
      retries.wait_after(error);
      before = at;
    };
    while (at < run.end) {
      try {
        receive(source_.url, run, at, !is_whole || at > 0, stop);
        if (has_no_ranges_) {
          if (at < run.end) on_bytes_(-static_cast<std::int64_t>((at - run.begin) % PartFile::kPieceBytes));
          return;
        }
        if (at < run.end) refuse_length("only " + std::to_string(at - before) + " bytes come");
      } catch (const BusyServer& error) {
        after(error);
      } catch (const Error& error) {
        after(error);
      }
    }
  }

  // Without ranges each attempt begins at the start.
  void fetch_whole() {
    on_bytes_(static_cast<std::int64_t>(part_.missing_bytes()) - static_cast<std::int64_t>(part_.bytes()));
    Retries retries(access_.retries(), access_.stop());
    with_retries(retries, [&] {
      part_.restart();
      const PartFile::Run all{.begin = 0, .end = part_.bytes()};
      std::uint64_t at = 0;
      try {
        receive(source_.url, all, at, false, access_.stop());
        if (at < all.end) refuse_length("only " + std::to_string(at) + " bytes come");
      } catch (...) {
        if (at > 0) retries.note_reached();
        on_bytes_(-static_cast<std::int64_t>(at));
        throw;
      }
    });
  }

  const HubAccess& access_;
  const RangedSource& source_;
  PartFile& part_;
  RangedOptions options_;
  const OnBytes& on_bytes_;
  std::atomic<bool> has_no_ranges_{false};
  base::Mutex mutex_;
  std::optional<std::string> etag_;
};

}  // namespace

void download_ranges(const HubAccess& access, const RangedSource& source, PartFile& part, const RangedOptions& options,
                     const OnBytes& on_bytes) {
  RangedDownload(access, source, part, options, on_bytes).run();
}

}  // namespace alate::hub
