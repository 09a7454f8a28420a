// Regular expressions, matched by PCRE2.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizers/regex/pattern.h"

namespace alate::tokenizers {

/// Compiles a regular expression in Oniguruma's syntax. Errors are those of Pattern's constructor.
std::unique_ptr<const Pattern::Matcher> compile_regex(std::string_view pattern, std::string_view where);

}  // namespace alate::tokenizers
