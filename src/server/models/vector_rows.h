// The vectors of an answer, shared by all parts of its body.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace alate::server {

/// A value type: copies share the numbers, which live as long as any copy.
class VectorRows {
 public:
  /// `numbers` are [rows, dimensions].
  VectorRows(std::vector<float> numbers, std::size_t rows, std::size_t dimensions)
      : numbers_(std::make_shared<const std::vector<float>>(std::move(numbers))),
        rows_(rows),
        dimensions_(dimensions) {}

  std::size_t rows() const { return rows_; }
  std::size_t dimensions() const { return dimensions_; }
  std::span<const float> row(std::size_t index) const { return numbers().subspan(index * dimensions_, dimensions_); }
  std::span<const float> numbers() const { return *numbers_; }
  std::size_t held_bytes() const { return numbers_->capacity() * sizeof(float); }

 private:
  std::shared_ptr<const std::vector<float>> numbers_;
  std::size_t rows_, dimensions_;
};

}  // namespace alate::server
