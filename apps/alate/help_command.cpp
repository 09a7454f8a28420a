// alate help
#include "alate/error.h"
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
  if (!arguments.parse()) return;
  if (command.empty()) {
    Output output;
    output.write(overview());
    return output.finish();
  }
  if (command == "models") {
    Output output;
    output.write(models::architecture_table());
    return output.finish();
  }
  const Verb* verb = find_verb(command);
  if (verb == nullptr)
    throw make_error(ErrorCode::invalid_argument, "there is no command ", formats::quoted_name(command),
                     "; see `alate --help`");
  Arguments asked(*verb, {"--help"});
  verb->run(asked);
}

}  // namespace alate::app
