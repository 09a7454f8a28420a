// alate backends
#include "arguments.h"
#include "backend_listing.h"
#include "common_options.h"
#include "formats/json.h"
#include "output.h"
#include "runtime/discovery.h"
#include "runtime/machine_json.h"
#include "verb.h"

namespace alate::app {

void run_backends(Arguments& arguments) {
  CommonOptions options;
  bool probe = false;
  arguments.flag("--probe", "forget what was found before: open every library and test every device anew", probe);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json});
  const runtime::Machine machine = runtime::discover({.anew = probe});
  Output output(options.out);
  output.write(format == OutputFormat::json ? formats::to_json_text(runtime::to_json(machine)) + "\n"
                                            : backend_listing(machine));
  output.finish();
}

}  // namespace alate::app
