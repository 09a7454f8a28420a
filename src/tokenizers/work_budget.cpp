#include "tokenizers/work_budget.h"

#include "alate/error.h"

namespace alate::tokenizers {

void WorkBudget::look() {
  if (steps_ > max_steps_)
    throw make_error(ErrorCode::resource_exhausted, "the tokenizer takes more than ", max_steps_,
                     " steps for the text, which is the limit for a text of its length; check the tokenizer's "
                     "normalizer, regular expressions and longest tokens, or give a shorter text");
  next_look_ = std::min(steps_ + kStepsBetweenLooks, max_steps_ + 1);
  check();
}

void WorkBudget::throw_too_long(std::size_t bytes) const {
  throw make_error(ErrorCode::resource_exhausted, "the tokenizer makes the text ", bytes, " bytes long; ", max_bytes_,
                   " are allowed for a text of its length; check the normalizer, or give a shorter text");
}

void WorkBudget::throw_long_tokens() const {
  throw make_error(ErrorCode::resource_exhausted, "the texts of the tokens have more than ", max_token_bytes_,
                   " bytes, which are allowed for a text of its length; check the tokenizer's unknown token, or ask "
                   "for ids only");
}

void Progress::count(std::size_t at) {
  budget_.count_steps(at - counted_);
  counted_ = at;
  next_ = at + kBlock;
}

}  // namespace alate::tokenizers
