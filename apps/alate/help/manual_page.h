// Manual pages in the language of man(7), from the same descriptions as the help.
#pragma once

#include <string>

#include "apps/alate/verb_description.h"

namespace alate::app {

/// alate(1): the commands, exit codes, variables and files.
std::string manual_page();

/// alate-VERB(1).
std::string manual_page_of(const VerbDescription& description);

}  // namespace alate::app
