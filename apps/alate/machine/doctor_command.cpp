// alate doctor
#include <string>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/machine/backend_listing.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "machine/machine_facts.h"
#include "machine/machine_json.h"
#include "machine/machine_peaks.h"
#include "runtime/loading/model_needs.h"

namespace alate::app {

void run_doctor(Arguments& arguments) {
  std::string model;
  CommonOptions options;
  arguments.positional("MODEL", false, model);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json});
  const runtime::Preferences preferences = runtime::preferences_of(load_options(options));
  runtime::ModelNeeds needs{.name = "any"};
  if (!model.empty()) needs = runtime::model_needs(find_model(options, model), options.dtype);
  const runtime::Machine machine = runtime::discover();
  const runtime::MachineFacts facts = runtime::machine_facts();
  const runtime::MachinePeaks peaks = runtime::measure_peaks();
  const Selection selection = runtime::select(needs, preferences, machine);
  Output output(options.out);
  if (format == OutputFormat::json) {
    formats::Json::Object object = {{"model", needs.name},
                                    {"selection", runtime::to_json(selection)},
                                    {"machine", runtime::to_json(facts)},
                                    {"peaks", runtime::to_json(peaks)}};
    const formats::Json backends = runtime::to_json(machine);
    for (const auto& [key, value] : backends.as_object("machine")) object.emplace_back(key, value);
    output.write(formats::to_json_text(object) + "\n");
  } else {
    output.write("Machine\n" + runtime::facts_listing(facts) + "\nMeasured peaks\n" + runtime::peaks_listing(peaks) +
                 "\nBackends\n" + backend_listing(machine) + "\nDecision for " +
                 (model.empty() ? "any model" : "the model " + needs.name) + "\n" + selection_listing(selection));
  }
  output.finish();
}

}  // namespace alate::app
