// The help of one verb.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/verb_description.h"

namespace alate::app {

/// What `alate VERB --help` prints.
std::string help_of(const VerbDescription& description);

/// "-o, --out FILE": an option as its help and its manual page show it.
std::string shown_option(const DescribedOption& option);

/// The lines of a verb's examples.
std::vector<std::string_view> example_lines(const Verb& verb);

/// The paragraph about MODEL, of verbs that take one; else empty.
std::string model_note(const VerbDescription& description);

/// The paragraph about options that every verb has, and about variables.
std::string_view options_everywhere();

}  // namespace alate::app
