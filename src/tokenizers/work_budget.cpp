#include "tokenizers/work_budget.h"

#include "alate/error.h"

namespace alate::tokenizers {

void WorkBudget::throw_too_long(std::size_t bytes) const {
  throw make_error(ErrorCode::resource_exhausted, "the tokenizer makes the text ", bytes, " bytes long; ", max_bytes_,
                   " are allowed for a text of its length; check the normalizer, or give a shorter text");
}

}  // namespace alate::tokenizers
