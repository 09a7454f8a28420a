// What BertProcessing and RobertaProcessing have in common.
#pragma once

#include <vector>

#include "tokenizers/post_processors/post_processor.h"

namespace alate::tokenizers {

/// Puts special tokens around every encoding and each of its windows: `first` before the first one, `later` before the
/// others (null: none), and `last` behind each, of type `later_type` behind the others. As in the reference, the
/// tokens between them count as not special from then on.
void surround_all(std::vector<Encoding>& encodings, const SpecialToken& first, const SpecialToken* later,
                  const SpecialToken& last, std::int32_t later_type, Wanted wanted);

}  // namespace alate::tokenizers
