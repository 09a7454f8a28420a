// alate chat, and alate run with a model.
#pragma once

#include "apps/alate/arguments.h"

namespace alate::app {

enum class FirstMessage {
  none,
  argument,  // PROMPT behind MODEL: it is answered, and that is all
};

/// Declares, parses and carries out.
void run_conversation(Arguments& arguments, FirstMessage first);

}  // namespace alate::app
