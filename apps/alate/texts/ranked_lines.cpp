#include "apps/alate/texts/ranked_lines.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "alate/error.h"
#include "alate/rerank.h"

namespace alate::app {
namespace {

constexpr std::size_t kFewLines = 4096;  // are not worth dropping

// A record is the score, the raw score, the length of the line, and the line.
struct RecordHead {
  float score = 0;
  float raw_score = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(RecordHead) == 16);
constexpr std::uint64_t kHeadBytes = sizeof(RecordHead);

std::ifstream opened(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw make_error(ErrorCode::unavailable, "cannot read ", path.string(), ", where the scored texts are");
  return file;
}

void read_at(std::ifstream& file, std::uint64_t position, char* out, std::uint64_t bytes,
             const std::filesystem::path& path) {
  file.seekg(static_cast<std::streamoff>(position));
  file.read(out, static_cast<std::streamsize>(bytes));
  if (!file) throw make_error(ErrorCode::unavailable, "cannot read ", path.string(), ", where the scored texts are");
}

}  // namespace

void RankedLinesInMemory::add(float score, float raw_score, std::string line) {
  scores_.push_back(score);
  raw_scores_.push_back(raw_score);
  lines_.push_back(std::move(line));
  if (count_ && lines_.size() > kFewLines && lines_.size() / 2 > *count_) drop_worst();
}

// What stays keeps its order, so that equal scores do.
void RankedLinesInMemory::drop_worst() {
  std::vector<std::size_t> kept = alate::best_first(scores_, count_, raw_scores_);
  std::ranges::sort(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    scores_[i] = scores_[kept[i]];
    raw_scores_[i] = raw_scores_[kept[i]];
    if (i != kept[i]) lines_[i] = std::move(lines_[kept[i]]);
  }
  scores_.resize(kept.size());
  raw_scores_.resize(kept.size());
  lines_.resize(kept.size());
}

void RankedLinesInMemory::best_first(std::optional<std::size_t> count,
                                     const std::function<void(std::string_view)>& take) const {
  for (const std::size_t i : alate::best_first(scores_, count, raw_scores_)) take(lines_[i]);
}

RankedLinesInFile::RankedLinesInFile(Output& store, std::int64_t bytes) : store_(store) {
  if (bytes == 0) return;
  const std::filesystem::path& path = store_.temporary_path();
  std::ifstream file = opened(path);
  const auto end = static_cast<std::uint64_t>(bytes);
  while (starts_.back() < end) {
    RecordHead head;
    if (end - starts_.back() >= kHeadBytes)
      read_at(file, starts_.back(), reinterpret_cast<char*>(&head), kHeadBytes, path);
    if (end - starts_.back() < kHeadBytes || head.bytes > end - starts_.back() - kHeadBytes)
      throw make_error(ErrorCode::corrupt, path.string(), " is damaged; remove it to begin anew");
    scores_.push_back(head.score);
    raw_scores_.push_back(head.raw_score);
    starts_.push_back(starts_.back() + kHeadBytes + head.bytes);
  }
}

void RankedLinesInFile::add(float score, float raw_score, std::string line) {
  const RecordHead head{.score = score, .raw_score = raw_score, .bytes = line.size()};
  store_.write(std::string_view(reinterpret_cast<const char*>(&head), kHeadBytes));
  store_.write(line);
  scores_.push_back(score);
  raw_scores_.push_back(raw_score);
  starts_.push_back(starts_.back() + kHeadBytes + line.size());
}

void RankedLinesInFile::best_first(std::optional<std::size_t> count,
                                   const std::function<void(std::string_view)>& take) const {
  store_.flush();
  const std::filesystem::path& path = store_.temporary_path();
  std::ifstream file = opened(path);
  std::string line;
  for (const std::size_t i : alate::best_first(scores_, count, raw_scores_)) {
    line.resize(starts_[i + 1] - starts_[i] - kHeadBytes);
    read_at(file, starts_[i] + kHeadBytes, line.data(), line.size(), path);
    take(line);
  }
}

}  // namespace alate::app
