// Building blocks of metrics: lock-free histograms, and Prometheus's text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace alate::server {

/// A histogram of integers: nanoseconds, rows, tokens. Thread-safe.
class Histogram {
 public:
  static constexpr std::size_t kMaxBounds = 24;

  /// `bounds` are ascending and must outlive the histogram. A value belongs to the first bound that it does not exceed.
  explicit Histogram(std::span<const std::uint64_t> bounds) : bounds_(bounds) {}

  void observe(std::uint64_t value);

  struct Snapshot {
    std::array<std::uint64_t, kMaxBounds + 1> counts{};  // one per bound, then everything above the last bound
    std::uint64_t sum = 0, count = 0;
  };
  Snapshot snapshot() const;
  std::span<const std::uint64_t> bounds() const { return bounds_; }

 private:
  std::span<const std::uint64_t> bounds_;
  std::array<std::atomic<std::uint64_t>, kMaxBounds + 1> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

/// Text of /metrics, built metric by metric.
class Exposition {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::initializer_list<Label>;

  /// Begins a metric; all its samples must follow. `type`: counter, gauge or histogram.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  /// Buckets, sum and count. `per_unit` is the number of histogram units in one unit of the metric.
  void sample(Labels labels, const Histogram& histogram, double per_unit = 1);

  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  std::string name_, text_;
};

}  // namespace alate::server
