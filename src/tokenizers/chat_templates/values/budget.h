// Limits on the work, memory and text of one rendering: a template is untrusted code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace alate::tokenizers::chat_templates {

/// Counts in units of work, not in time, so that what a template may do is the same on every machine. A unit is one
/// evaluated node or a few dozen copied bytes, a few dozen nanoseconds; templates of real models take some thousands of
/// units for a conversation. All limits grow with the size of the conversation. Throws resource_exhausted.
class Budget {
 public:
  explicit Budget(std::size_t input_bytes);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  void work(std::uint64_t units = 1) {
    work_ += units;
    if (work_ > max_work_) refuse_work();
  }
  /// Bytes about to be written to a text that has `size` already.
  void grow_text(std::uint64_t size, std::uint64_t added);
  /// Memory that a value takes until it calls release.
  void allocate(std::size_t bytes);
  void release(std::size_t bytes) { allocated_ -= bytes; }

 private:
  [[noreturn]] static void refuse_work();

  std::uint64_t work_ = 0, max_work_;
  std::uint64_t allocated_ = 0, max_allocated_;
  std::uint64_t max_text_;
};

/// A value's share of a budget's memory.
class Charge {
 public:
  Charge() = default;  // for values of the template itself
  Charge(Budget& budget, std::size_t bytes) : budget_(&budget), bytes_(bytes) { budget.allocate(bytes); }
  ~Charge() {
    if (budget_ != nullptr) budget_->release(bytes_);
  }
  Charge(Charge&& other) noexcept : budget_(other.budget_), bytes_(other.bytes_) { other.budget_ = nullptr; }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  Charge& operator=(Charge&&) = delete;

 private:
  Budget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A text under construction, whose growth is checked.
class Builder {
 public:
  explicit Builder(Budget& budget) : budget_(budget) {}

  void append(std::string_view part) {
    budget_.grow_text(text_.size(), part.size());
    text_ += part;
  }
  void append(char part) { append(std::string_view(&part, 1)); }
  void append_repeated(std::string_view part, std::uint64_t count);

  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }
  std::string_view view() const { return text_; }
  Budget& budget() { return budget_; }

 private:
  Budget& budget_;
  std::string text_;
};

}  // namespace alate::tokenizers::chat_templates
