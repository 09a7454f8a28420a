#include "generation/constraint/constraint.h"

#include <mutex>
#include <utility>

#include "alate/error.h"
#include "generation/constraint/grammar_tables.h"

namespace alate::generation {

Constraint::Constraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const Vocabulary> vocabulary,
                       std::size_t most_bytes)
    : grammar_(std::move(grammar)),
      vocabulary_(std::move(vocabulary)),
      most_bytes_(most_bytes),
      cache_(std::make_shared<Cache>(grammar_->tables(), *vocabulary_)) {
  cache_->masks.prepare();
}

std::shared_ptr<Constraint::Cache> Constraint::current() {
  const std::lock_guard lock(mutex_);
  return cache_;
}

std::shared_ptr<Constraint::Cache> Constraint::other_than(const std::shared_ptr<Cache>& full) {
  const std::lock_guard lock(mutex_);
  if (cache_ == full) cache_ = std::make_shared<Cache>(grammar_->tables(), *vocabulary_);
  return cache_;
}

ConstrainedText::ConstrainedText(std::shared_ptr<Constraint> constraint)
    : constraint_(std::move(constraint)), cache_(constraint_->current()) {
  const std::lock_guard lock(cache_->mutex);
  look_at_state();
}

void ConstrainedText::look_at_state() {
  const Automaton::State& state = cache_->masks.automaton().state(state_);
  is_complete_ = state.is_complete;
  is_over_ = state.is_complete && state.items.empty();
}

// Takes the text into a cache that has room.
void ConstrainedText::renew() {
  const std::shared_ptr<Constraint::Cache> full = cache_;
  cache_ = constraint_->other_than(full);
  const std::scoped_lock lock(full->mutex, cache_->mutex);
  state_ = full->masks.automaton().copy_to(cache_->masks.automaton(), state_);
}

std::shared_ptr<const TokenMask> ConstrainedText::allowed() {
  {
    const std::lock_guard lock(cache_->mutex);
    if (cache_->masks.bytes() <= constraint_->most_bytes_)
      return is_first_ ? cache_->masks.first_mask(state_) : cache_->masks.mask(state_);
  }
  renew();
  const std::lock_guard lock(cache_->mutex);
  return is_first_ ? cache_->masks.first_mask(state_) : cache_->masks.mask(state_);
}

void ConstrainedText::accept(std::int32_t token) {
  const std::lock_guard lock(cache_->mutex);
  const Automaton::StateId next = cache_->masks.after_token(state_, token, is_first_);
  if (next == Automaton::kDead)
    throw make_error(ErrorCode::invalid_argument, "the token ", token, " is not allowed here by the grammar");
  state_ = next;
  is_first_ = false;
  look_at_state();
}

}  // namespace alate::generation
