// Lines of a ranking while their order is not known: in memory, or in a file where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/output.h"

namespace alate::app {

/// Takes lines with their scores in the order of the input, and gives them back the best first. One thread at a time.
class RankedLines {
 public:
  virtual ~RankedLines() = default;
  /// `raw_score` is as in alate::best_first.
  virtual void add(float score, float raw_score, std::string line) = 0;
  /// Gives the best `count` lines, absent: all, to `take`, in the order of alate::best_first.
  virtual void best_first(std::optional<std::size_t> count,
                          const std::function<void(std::string_view)>& take) const = 0;
};

/// In memory: all lines, or about twice the best `count`.
class RankedLinesInMemory : public RankedLines {
 public:
  explicit RankedLinesInMemory(std::optional<std::size_t> count) : count_(count) {}
  void add(float score, float raw_score, std::string line) override;
  void best_first(std::optional<std::size_t> count, const std::function<void(std::string_view)>& take) const override;

 private:
  void drop_worst();

  std::optional<std::size_t> count_;
  std::vector<float> scores_, raw_scores_;
  std::vector<std::string> lines_;
};

/// In a file that a later run can go on with; 16 bytes for each line are in memory.
class RankedLinesInFile : public RankedLines {
 public:
  /// `store` must outlive this object, and has `bytes` bytes of an earlier run. Throws corrupt if these are no lines,
  /// unavailable if they cannot be read.
  RankedLinesInFile(Output& store, std::int64_t bytes);
  void add(float score, float raw_score, std::string line) override;
  void best_first(std::optional<std::size_t> count, const std::function<void(std::string_view)>& take) const override;

 private:
  Output& store_;
  std::vector<float> scores_, raw_scores_;
  std::vector<std::uint64_t> starts_{0};  // of each line's record, and the end of the last
};

}  // namespace alate::app
