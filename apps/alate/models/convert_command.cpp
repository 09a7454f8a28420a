// alate convert
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "alate/memory.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/verb.h"
#include "folders/convert_folder.h"
#include "formats/json.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/model_content.h"
#include "runtime/loading/model_files.h"

namespace alate::app {
namespace {

std::string report_of(const folders::ConvertReport& report, const std::string& out, OutputFormat format) {
  if (format == OutputFormat::json)
    return formats::to_json_text(formats::Json::Object{
               {"folder", out}, {"tensors", std::uint64_t{report.tensors}}, {"weight_bytes", report.bytes}}) +
           "\n";
  return "wrote " + out + ": " + std::to_string(report.tensors) + " tensors of " + human_bytes(report.bytes) +
         " as safetensors\n";
}

}  // namespace

void run_convert(Arguments& arguments) {
  std::string model, out;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.positional("OUT", true, out);
  bool hides_progress = false;
  declare_progress(arguments, hides_progress);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  std::optional<Output> output;
  if (!options.quiet) output.emplace(options.out);

  const std::filesystem::path path = find_model(options, model);
  const runtime::ModelFiles files = runtime::find_model_files(path);
  runtime::require_weights(files, "convert");
  runtime::require_not_gguf(files, "convert");
  std::optional<Progress> progress;
  std::size_t done = 0;
  folders::ConvertOptions how{.weights_file = files.weights_file};
  pipelines::ModelPurpose purpose = pipelines::purpose_of(path);
  how.type = std::move(purpose.type);
  how.capabilities = std::move(purpose.capabilities);
  how.report = [&](const folders::ConvertProgress& at) {
    if (!progress) progress.emplace(options, true, hides_progress, "convert", at.total, "tensors");
    progress->add(at.done - done, static_cast<double>(at.done) / static_cast<double>(at.total));
    done = at.done;
  };
  const folders::ConvertReport report = folders::convert_folder(files.home, out, runtime::model_digests(), how);
  progress.reset();
  if (!output) return;
  output->write(report_of(report, out, format));
  output->finish();
}

}  // namespace alate::app
