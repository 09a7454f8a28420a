// alate forward
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "runtime/decoding/greedy.h"
#include "runtime/forward.h"
#include "runtime/loading/loaded_model.h"

namespace alate::app {
namespace {

// FILE, or NAME=FILE for an .npy file, which has no names.
struct InputFile {
  std::string path;
  std::string name = {};
};

InputFile input_file(const std::string& text) {
  const std::size_t sign = text.find('=');
  std::error_code error;
  if (sign == std::string::npos || text.find('/') < sign || std::filesystem::exists(text, error)) return {text};
  return {text.substr(sign + 1), text.substr(0, sign)};
}

NamedTensors read_inputs(const std::vector<std::string>& given) {
  NamedTensors inputs;
  for (const std::string& text : given) {
    const InputFile file = input_file(text);
    const bool is_array = formats::tensor_file_kind(file.path) == formats::TensorFileKind::npy;
    if (!file.name.empty() && !is_array)
      throw make_error(ErrorCode::invalid_argument, "--inputs: ", file.path,
                       " names its tensors itself; NAME=FILE is for .npy files");
    for (formats::NamedTensor& each : formats::read_tensors(file.path)) {
      if (is_array) each.name = file.name.empty() ? "input_ids" : file.name;
      if (!inputs.emplace(each.name, std::move(each.tensor)).second)
        throw make_error(ErrorCode::invalid_argument, "--inputs: ", formats::quoted_name(each.name),
                         " is given twice; the second is in ", file.path);
    }
  }
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
  std::vector<std::string> inputs_given;
  std::string outputs_path;
  Profiler profiler;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.repeated("--inputs", "FILE",
                     "named tensors, .safetensors or .npz; or an array, .npy: it is input_ids, or NAME in NAME=FILE; "
                     "repeated: further inputs",
                     inputs_given);
  arguments.option("--outputs", "FILE",
                   "where the model's outputs go: .safetensors or .npz; .npy for a model with one output",
                   outputs_path);
  std::optional<std::size_t> greedy;
  arguments.option("--greedy", "N",
                   "also the N most likely tokens that follow each row, one after the other: greedy_ids [batch, N], of "
                   "models that predict a next token",
                   greedy);
  profiler.declare(arguments);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::cache_type, Shared::threads, Shared::loading},
          written);
  if (!arguments.parse()) return;
  apply(options);
  if (inputs_given.empty()) throw arguments.usage_error("--inputs is missing");
  if (greedy == std::size_t{0}) throw arguments.usage_error("--greedy is at least 1");
  if (outputs_path.empty()) throw arguments.usage_error("--outputs is missing");
  const OutputFormat format = output_format(options, written);
  const formats::TensorFileKind kind = formats::tensor_file_kind(outputs_path);
  Output outputs_file(outputs_path);
  std::optional<Output> output;
  if (!options.quiet || (profiler.is_wanted() && format == OutputFormat::json)) output.emplace(options.out);

  const NamedTensors inputs = read_inputs(inputs_given);
  if (!options.activations) options.activations = BlockActivations::floats;  // what references compute with
  const Model loaded = runtime::load_model(find_model(options, model), load_request(options));
  profiler.check(loaded.facts().backend);
  const auto start = std::chrono::steady_clock::now();
  NamedTensors outputs = runtime::forward(loaded.state(), inputs, profiler.options());
  if (greedy)
    outputs.insert_or_assign("greedy_ids", runtime::greedy_ids(loaded.state(), inputs, *greedy, profiler.options()));
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
