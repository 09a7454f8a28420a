#include "verb_description.h"

#include "arguments.h"

namespace alate::app {

const DescribedOption* VerbDescription::find(std::string_view name) const {
  for (const DescribedGroup& group : groups) {
    for (const DescribedOption& option : group.options) {
      if (name == option.name || (!name.empty() && (name == option.letter || name == option.negative))) return &option;
    }
  }
  return nullptr;
}

VerbDescription describe(const Verb& verb) {
  Arguments arguments{verb};
  verb.run(arguments);
  return arguments.description();
}

const std::vector<VerbDescription>& verb_descriptions() {
  static const std::vector<VerbDescription> all = [] {
    std::vector<VerbDescription> made;
    for (const Verb& verb : verbs()) made.push_back(describe(verb));
    return made;
  }();
  return all;
}

std::string variable_of_option(std::string_view option) {
  std::string out = "ALATE_";
  for (const char c : option.substr(2)) out += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return out;
}

}  // namespace alate::app
