// alate help
#include <string>
#include <vector>

#include "alate/error.h"
#include "apps/alate/help/verb_help.h"
#include "arguments.h"
#include "formats/json.h"
#include "models/architecture_table.h"
#include "output.h"
#include "overview.h"
#include "verb.h"

namespace alate::app {

void run_help(Arguments& arguments) {
  std::string command;
  arguments.positional("COMMAND", false, command);
  arguments.choices([] {
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) {
      if (!verb.hidden) names.emplace_back(verb.name);
    }
    return names;
  });
  if (!arguments.parse()) return;
  Output output;
  if (command.empty()) {
    output.write(overview());
    return output.finish();
  }
  if (command == "models") {
    output.write(models::architecture_table());
    return output.finish();
  }
  if (command == "architectures") {
    output.write(models::architecture_document());
    return output.finish();
  }
  const Verb* verb = find_verb(command);
  if (verb == nullptr)
    throw make_error(ErrorCode::invalid_argument, "there is no command ", formats::quoted_name(command),
                     "; see `alate --help`");
  output.write(help_of(describe(*verb)));
  output.finish();
}

}  // namespace alate::app
