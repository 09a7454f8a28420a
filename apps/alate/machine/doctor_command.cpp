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
  const machine::Preferences preferences = runtime::preferences_of(load_options(options));
  machine::ModelNeeds needs{.name = "any"};
  if (!model.empty()) needs = runtime::model_needs(find_model(options, model), options.dtype);
  const machine::Machine machine = machine::discover();
  const machine::MachineFacts facts = machine::machine_facts();
  const machine::MachinePeaks peaks = machine::measure_peaks();
  const Selection selection = machine::select(needs, preferences, machine);
  Output output(options.out);
  if (format == OutputFormat::json) {
    formats::Json::Object object = {{"model", needs.name},
                                    {"selection", machine::to_json(selection)},
                                    {"machine", machine::to_json(facts)},
                                    {"peaks", machine::to_json(peaks)}};
    const formats::Json backends = machine::to_json(machine);
    for (const auto& [key, value] : backends.as_object("machine")) object.emplace_back(key, value);
    output.write(formats::to_json_text(object) + "\n");
  } else {
    output.write("Machine\n" + machine::facts_listing(facts) + "\nMeasured peaks\n" + machine::peaks_listing(peaks) +
                 "\nBackends\n" + backend_listing(machine) + "\nDecision for " +
                 (model.empty() ? "any model" : "the model " + needs.name) + "\n" + selection_listing(selection));
  }
  output.finish();
}

}  // namespace alate::app
