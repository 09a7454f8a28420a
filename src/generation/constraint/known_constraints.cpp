#include "generation/constraint/known_constraints.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "generation/constraint/compile_format.h"
#include "generation/constraint/grammar_tables.h"

namespace alate::generation {

template <typename IsIt>
std::shared_ptr<Constraint> KnownConstraints::find(const IsIt& is_it) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(known_, is_it);
  if (found == known_.end()) return nullptr;
  std::rotate(found, found + 1, known_.end());
  return known_.back().constraint;
}

// Made without the lock, so that one large grammar does not hold up the others.
std::shared_ptr<Constraint> KnownConstraints::add(const OutputFormat& format, std::shared_ptr<const Grammar> grammar) {
  std::shared_ptr<const Vocabulary> vocabulary;
  {
    const std::lock_guard lock(mutex_);
    if (vocabulary_ == nullptr) vocabulary_ = make_vocabulary_();
    vocabulary = vocabulary_;
  }
  auto made = std::make_shared<Constraint>(std::move(grammar), std::move(vocabulary));
  const std::lock_guard lock(mutex_);
  if (known_.size() == kMostKept) known_.erase(known_.begin());
  known_.push_back({format, made});
  return made;
}

std::shared_ptr<Constraint> KnownConstraints::of(const OutputFormat& format, base::Cancellation cancellation) {
  if (format.kind == OutputFormat::Kind::text) return nullptr;
  if (auto known = find([&](const Known& one) { return one.format == format; })) return known;
  return add(format, compile_format(format, cancellation));
}

std::shared_ptr<Constraint> KnownConstraints::of(const std::shared_ptr<const Grammar>& grammar) {
  if (grammar == nullptr) return nullptr;
  if (auto known = find([&](const Known& one) {
        return &one.constraint->grammar() == grammar.get() || one.constraint->grammar().tables() == grammar->tables();
      }))
    return known;
  return add({}, grammar);
}

}  // namespace alate::generation
