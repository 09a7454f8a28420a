// What metrics are made of: histograms that threads count into without a lock, and Prometheus's text format
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

/// Whole numbers, sorted into buckets: nanoseconds, rows, tokens. Thread-safe.
class Histogram {
 public:
  static constexpr std::size_t kMaxBounds = 24;

  /// `bounds` rise, and live as long as the histogram; a value belongs to the first bound that it is not over.
  explicit Histogram(std::span<const std::uint64_t> bounds) : bounds_(bounds) {}

  void observe(std::uint64_t value);

  struct Snapshot {
    std::array<std::uint64_t, kMaxBounds + 1> counts{};  // of each bound and, after the last, of all that is over it
    std::uint64_t sum = 0, count = 0;
  };
  Snapshot snapshot() const;
  std::span<const std::uint64_t> bounds() const { return bounds_; }

 private:
  std::span<const std::uint64_t> bounds_;
  std::array<std::atomic<std::uint64_t>, kMaxBounds + 1> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

/// The text that /metrics answers with, metric by metric.
class Exposition {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::initializer_list<Label>;

  /// Begins a metric; all its samples follow. `type`: counter, gauge or histogram.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  /// Buckets, sum and count. The metric's unit has so many of the histogram's.
  void sample(Labels labels, const Histogram& histogram, double per_unit = 1);

  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value);

  std::string name_, text_;
};

}  // namespace alate::server
