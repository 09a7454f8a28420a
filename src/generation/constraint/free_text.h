// Texts in which certain texts do not occur, and texts that are not certain ones.
#pragma once

#include <span>
#include <string>

#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// Accepts valid UTF-8 in which none of the texts occurs. Throws invalid_argument for texts that are empty, not valid
/// UTF-8 or too long together.
ByteMachine text_without(std::span<const std::string> without);

/// Accepts the inside of a JSON string without escapes that is none of the texts.
ByteMachine plain_string_other_than(std::span<const std::string> texts);

}  // namespace alate::generation
