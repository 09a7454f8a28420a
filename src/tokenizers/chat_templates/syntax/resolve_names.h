// Finds out which variable each name of a template means.
#pragma once

#include <string_view>

#include "tokenizers/chat_templates/syntax/syntax.h"

namespace alate::tokenizers::chat_templates {

/// Gives each variable a slot of its function, each name its variable, and each scope the loads of its variables. The
/// rules are those of Jinja's compiler: a scope decides as a whole, before it runs, which of its names are its own.
/// Throws corrupt for templates that assign to `loop` in a loop, or use filters or tests that do not exist.
void resolve_names(Syntax& syntax, std::string_view what);

}  // namespace alate::tokenizers::chat_templates
