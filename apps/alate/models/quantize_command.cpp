// alate quantize
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/memory.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "quantization/quantize_folder.h"

namespace alate::app {
namespace {

std::vector<std::string> read_texts(const std::string& file, InvalidUtf8 invalid_utf8) {
  if (file.empty()) return {};
  TextSource source(TextInput{.file = file, .invalid_utf8 = invalid_utf8});
  std::vector<std::string> texts;
  while (auto input = source.next()) {
    if (!input->text.empty()) texts.push_back(std::move(input->text));
  }
  if (texts.empty()) throw make_error(ErrorCode::invalid_argument, "--calibration: ", file, " has no texts");
  return texts;
}

constexpr std::size_t kMaxGroups = 1000;  // larger values are clamped; they are just as invalid

std::string report_of(const quantization::FolderReport& report, const std::string& out, OutputFormat format) {
  if (format == OutputFormat::json) {
    return formats::to_json_text(formats::Json::Object{{"folder", out},
                                                       {"layers", std::uint64_t{report.layers}},
                                                       {"calibration_texts", std::uint64_t{report.texts}},
                                                       {"calibration_tokens", std::uint64_t{report.tokens}},
                                                       {"weight_bytes_before", report.bytes_before},
                                                       {"weight_bytes", report.bytes_after}}) +
           "\n";
  }
  return "wrote " + out + ": " + std::to_string(report.layers) + " layers in 8 bits, weights of " +
         human_bytes(report.bytes_after) + " instead of " + human_bytes(report.bytes_before) + ", calibrated with " +
         std::to_string(report.texts) + " texts of " + std::to_string(report.tokens) + " tokens\n";
}

// Shows one stage after the other.
class StageProgress {
 public:
  StageProgress(const CommonOptions& options, bool is_hidden) : options_(options), is_hidden_(is_hidden) {}

  void show(const quantization::QuantizationProgress& at) {
    if (!shown_ || at.stage != stage_) {
      const bool is_layers = at.stage == quantization::QuantizationStage::layers;
      shown_.emplace(options_, true, is_hidden_, "quantize", at.total, is_layers ? "layers" : "tensors");
      stage_ = at.stage;
      done_ = 0;
    }
    shown_->add(at.done - done_, at.share);
    done_ = at.done;
  }
  void end() { shown_.reset(); }

 private:
  const CommonOptions& options_;
  bool is_hidden_;
  std::optional<Progress> shown_;
  quantization::QuantizationStage stage_ = {};
  std::size_t done_ = 0;
};

}  // namespace

void run_quantize(Arguments& arguments) {
  std::string model, out, type, calibration;
  std::optional<std::size_t> groups;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::refuse;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.positional("OUT", true, out);
  arguments.option("--type", "TYPE", "of the weights: int8", type);
  arguments.choices({"int8"});
  arguments.option("--calibration", "FILE", "texts like those that the model will see, one a line, or .jsonl",
                   calibration);
  declare(arguments, invalid_utf8);
  arguments.option(
      "--activation-groups", "N",
      "groups of a layer's inputs, each with its own scale: 1 is fastest; default: as many as each layer needs",
      groups);
  arguments.former_name("--activation-runs");
  bool hides_progress = false;
  declare_progress(arguments, hides_progress);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models, Shared::threads}, written);
  if (!arguments.parse()) return;
  apply(options);
  if (type.empty()) throw arguments.usage_error("--type is missing; int8 is the one there is");
  if (type != "int8") throw arguments.usage_error("--type is int8, not " + formats::quoted_name(type));
  const OutputFormat format = output_format(options, written);
  std::optional<Output> output;
  if (!options.quiet) output.emplace(options.out);

  quantization::FolderOptions how{.calibration = read_texts(calibration, invalid_utf8)};
  StageProgress progress(options, hides_progress);
  how.report = [&progress](const quantization::QuantizationProgress& at) { progress.show(at); };
  if (groups) how.activation_groups = static_cast<std::int64_t>(std::min(*groups, kMaxGroups));
  const quantization::FolderReport report = quantization::quantize_folder(find_model(options, model), out, how);
  progress.end();
  if (!output) return;
  output->write(report_of(report, out, format));
  output->finish();
}

}  // namespace alate::app
