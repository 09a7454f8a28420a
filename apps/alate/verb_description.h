// What a verb takes, as its help, its manual page and shell completion show it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verb.h"

namespace alate::app {

struct DescribedOption {
  std::string name;                  // "--out"
  std::string letter = {};           // "-o"; may be empty
  std::string negative = {};         // "--no-normalize"; may be empty
  std::string value = {};            // placeholder of its value; empty for a flag
  std::string sentence = {};         // empty for another name, accepted but not listed
  std::vector<std::string> choices;  // its usual values, where they are few

  bool is_listed() const { return !sentence.empty(); }
};

/// Options under a title.
struct DescribedGroup {
  std::string title;
  std::vector<DescribedOption> options = {};
};

/// A positional argument.
struct DescribedArgument {
  std::string name;  // as in the synopsis: "MODEL", "install|remove"
  bool is_repeated = false;
  std::vector<std::string> choices = {};
};

/// Names with a sentence each, under a title.
struct DescribedNames {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

struct VerbDescription {
  const Verb* verb = nullptr;
  std::vector<DescribedArgument> arguments = {};
  std::vector<DescribedGroup> groups = {};  // in order; one without options is not shown
  std::vector<DescribedNames> names = {};
  std::vector<std::string> notes = {};  // paragraphs after the options

  /// The option of this name, negative or letter; null if there is none.
  const DescribedOption* find(std::string_view name) const;
};

/// Lets the verb declare its arguments, and nothing else.
VerbDescription describe(const Verb& verb);

/// Of every verb, hidden ones too. Made at the first call; thread-safe.
const std::vector<VerbDescription>& verb_descriptions();

/// "ALATE_MAX_LENGTH" of "--max-length".
std::string variable_of_option(std::string_view option);

}  // namespace alate::app
