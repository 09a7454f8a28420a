#include "overview.h"

#include <algorithm>

#include "program_version.h"
#include "verb.h"

namespace alate::app {

std::string overview() {
  std::string out = "Alate " + std::string(program_version()) +
                    " runs open models on this machine.\n\nUsage: alate COMMAND [ARGUMENTS]\n\n";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    std::string left = "  " + std::string(verb.name) + " " + std::string(verb.synopsis);
    left.resize(std::max<std::size_t>(left.size() + 2, 44), ' ');
    out += left + std::string(verb.sentence) + "\n";
  }
  out +=
      "\nMODEL is the path of a model's folder, or the name of one in the models directory.\n"
      "`alate help COMMAND` tells a command's options, with an example.\n\n"
      "Try:\n  alate embed sentence-transformers/all-MiniLM-L6-v2 \"a first text\" \"a second one\"\n";
  return out;
}

}  // namespace alate::app
