// alate forward
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "runtime/forward.h"

namespace alate::app {
namespace {

NamedTensors read_inputs(const std::string& path) {
  NamedTensors inputs;
  for (formats::NamedTensor& each : formats::read_tensors(path))
    inputs.emplace(std::move(each.name), std::move(each.tensor));
  return inputs;
}

// Reports the outputs written, one per line.
void report(const NamedTensors& outputs, OutputFormat format, const std::optional<formats::Json>& profile,
            Output& output) {
  formats::Json::Object shapes;
  for (const auto& [name, tensor] : outputs) {
    if (format == OutputFormat::text) {
      output.write(name + " " + to_string(tensor.shape()) + "\n");
    } else {
      shapes.emplace_back(name, to_string(tensor.shape()));
    }
  }
  if (format == OutputFormat::json) {
    formats::Json::Object object = {{"outputs", std::move(shapes)}};
    if (profile) object.emplace_back("profile", *profile);
    output.write(formats::to_json_text(object) + "\n");
  }
  output.finish();
}

}  // namespace

void run_forward(Arguments& arguments) {
  std::string model;
  std::string inputs_path;
  std::string outputs_path;
  Profiler profiler;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.option("--inputs", "FILE", "named tensors: .safetensors or .npz", inputs_path);
  arguments.option("--outputs", "FILE", "where the model's outputs go: .safetensors or .npz", outputs_path);
  profiler.declare(arguments);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  if (inputs_path.empty()) throw arguments.usage_error("--inputs is missing");
  if (outputs_path.empty()) throw arguments.usage_error("--outputs is missing");
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json});
  const formats::TensorFileKind kind = formats::tensor_file_kind(outputs_path);
  Output outputs_file(outputs_path);
  std::optional<Output> output;
  if (!options.quiet || (profiler.is_wanted() && format == OutputFormat::json)) output.emplace(options.out);

  const NamedTensors inputs = read_inputs(inputs_path);
  const Model loaded = Model::load(find_model(options, model), load_options(options));
  profiler.check(loaded.facts().backend);
  const auto start = std::chrono::steady_clock::now();
  NamedTensors outputs = runtime::forward(loaded.state(), inputs, profiler.options());
  profiler.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  std::vector<formats::NamedTensor> named;
  for (const auto& [name, tensor] : outputs) named.push_back({name, tensor});
  outputs_file.write(formats::tensor_file_bytes(kind, named));
  outputs_file.finish();
  std::optional<formats::Json> profile;
  if (profiler.is_wanted() && format == OutputFormat::json) profile = profiler.json(1);
  if (output) report(outputs, format, profile, *output);
  if (profiler.is_wanted() && !profile) profiler.show(1);
}

}  // namespace alate::app
