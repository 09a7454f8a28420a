// Where a model for token classification divides a text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "alate/recognize.h"
#include "base/threads/cancellation.h"

namespace alate::pipelines {

/// The same model, whose first label is "O" where none has this name.
RecognizePipeline divider_of(const RecognizePipeline& recognizer);

/// What a divider is asked for: all labels but "O", joined where neighbouring tokens have the
/// same, in windows that share half of their tokens. Throws unsupported for a model without labels of its own, and for
/// one with nothing but these.
RecognizeOptions separator_options(const RecognizePipeline& recognizer);

/// The bytes at which they end, ascending.
std::vector<std::size_t> ends_of(std::span<const Entity> separators);

/// Those of a text, with a recognizer that need not be a divider. Throws as separator_options and
/// RecognizePipeline::recognize.
std::vector<std::size_t> separator_ends(const RecognizePipeline& recognizer, std::string_view text,
                                        const base::Cancellation& cancellation);

}  // namespace alate::pipelines
