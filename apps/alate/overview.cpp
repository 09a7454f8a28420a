#include "overview.h"

#include <algorithm>

#include "apps/alate/help/text_columns.h"
#include "exit_codes.h"
#include "program_version.h"
#include "verb.h"

namespace alate::app {

std::string overview() {
  std::string out = "Alate " + std::string(program_version()) +
                    " runs open models on this machine.\n\nUsage: alate COMMAND [ARGUMENTS]\n\n";
  constexpr std::size_t kColumn = 48;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const std::string left = std::string(verb.name) + " " + std::string(verb.synopsis);
    out += two_columns(verb.synopsis.empty() ? verb.name : left, verb.sentence, kColumn);
  }
  out += "\n" +
         wrapped(
             "MODEL is the path of a model's folder, the name of a model in the models directory, or "
             "builtin:minilm or builtin:pii, which come with the program. `alate help COMMAND` lists a command's "
             "options and "
             "shows examples. `alate --version`, or -v, prints the version.") +
         "\n\nTry:\n  alate chat\n  alate demo\n  alate embed builtin:minilm \"a first text\" \"a second one\"\n\nExit "
         "codes:\n";
  for (const ExitCodeMeaning& meaning : exit_code_meanings())
    out += two_columns(std::to_string(meaning.code), meaning.sentence, 8);
  return out;
}

}  // namespace alate::app
