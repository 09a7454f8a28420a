// The constraints that a model's texts have been held to.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "alate/output_format.h"
#include "base/threads/cancellation.h"
#include "base/threads/mutex.h"
#include "generation/constraint/constraint.h"

namespace alate::generation {

/// Keeps the last few, so that what texts of one format compute serves the next ones. Thread-safe.
class KnownConstraints {
 public:
  /// `make_vocabulary` is called once, at the first constraint.
  explicit KnownConstraints(std::function<std::shared_ptr<const Vocabulary>()> make_vocabulary)
      : make_vocabulary_(std::move(make_vocabulary)) {}

  /// Null for plain text. Throws as compile_format.
  std::shared_ptr<Constraint> of(const OutputFormat& format, base::Cancellation cancellation);
  std::shared_ptr<Constraint> of(const std::shared_ptr<const Grammar>& grammar);

 private:
  static constexpr std::size_t kMostKept = 8;

  struct Known {
    OutputFormat format;  // plain text: made of a grammar
    std::shared_ptr<Constraint> constraint;
  };

  template <typename IsIt>
  std::shared_ptr<Constraint> find(const IsIt& is_it);
  std::shared_ptr<Constraint> add(const OutputFormat& format, std::shared_ptr<const Grammar> grammar);

  std::function<std::shared_ptr<const Vocabulary>()> make_vocabulary_;
  base::Mutex mutex_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // under it, as the rest
  std::vector<Known> known_;                      // the last used is the last
};

}  // namespace alate::generation
