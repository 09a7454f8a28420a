#include "quantization/quantize_folder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "base/files/atomic_file.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/log.h"
#include "folders/manifest_writer.h"
#include "folders/output_folder.h"
#include "formats/safetensors/safetensors_writer.h"
#include "models/heads/extractor_config.h"
#include "models/weights/adapters.h"
#include "pipelines/modules/transformer_settings.h"
#include "pipelines/tasks/tasks.h"
#include "quantization/calibration_texts.h"
#include "quantization/quantize_model.h"
#include "runtime/loading/model_content.h"
#include "runtime/loading/model_files.h"
#include "tokenizers/unicode/letter_case.h"

namespace alate::quantization {
namespace {

namespace fs = std::filesystem;

// Most tokens used of one text, and of all texts: more would take memory and change little.
constexpr std::size_t kLongestText = 256, kMostTokens = 16384;

PackedTokens tokens_of(const fs::path& folder, std::span<const std::string> texts, std::int64_t positions) {
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const pipelines::TransformerSettings settings = pipelines::read_transformer_settings(folder);
  const std::size_t most = std::min(kLongestText, static_cast<std::size_t>(positions));
  const EncodeOptions options{
      .max_length = std::min(most, settings.max_length.value_or(most)), .with_offsets = false, .with_tokens = false};
  PackedTokens tokens;
  for (const std::string& text : texts) {
    const std::vector<std::int32_t> ids =
        tokenizer.encode(settings.lower_case ? tokenizers::lower_cased(text) : text, options).ids;
    if (tokens.ids.size() + ids.size() > kMostTokens) break;
    if (ids.empty()) continue;
    tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
    tokens.lengths.push_back(static_cast<std::int32_t>(ids.size()));
  }
  if (tokens.ids.empty()) throw Error(ErrorCode::invalid_argument, "the calibration texts have no tokens: give others");
  return tokens;
}

// Whether the folder is only for text embedding: a sentence-transformers folder whose model has no head. Weights read
// only by forward's other outputs are of no use in it.
bool is_for_embedding_alone(const fs::path& folder, const formats::Json& config) {
  std::error_code ignored;
  if (!fs::exists(folder / "modules.json", ignored)) return false;
  const formats::Json* names = config.find("architectures");
  if (names == nullptr || !names->is_array() || names->as_array("architectures").size() != 1) return false;
  return names->as_array("architectures")[0].as_string("architectures[0]").ends_with("Model");
}

std::set<std::string, std::less<>> not_read_by_encoder(const ModelSource& source) {
  graph::Builder builder("encoder");
  const models::EncoderInputs inputs = models::declare_encoder_inputs(builder);
  models::Weights weights(source.file, std::string(models::weight_prefix(source.architecture, source.config)));
  models::build_encoder(source.architecture, builder, source.config, weights, inputs, models::HeadChoice::none);
  const std::vector<std::string> names = weights.unused();
  return {names.begin(), names.end()};
}

std::vector<formats::NamedTensor> merged(const formats::WeightSource& file, models::TensorsByName replaced,
                                         const std::set<std::string, std::less<>>& left_out) {
  for (const std::string_view name : file.names()) {
    if (!replaced.contains(name) && !left_out.contains(name)) replaced.emplace(name, file.tensor(name));
  }
  std::vector<formats::NamedTensor> tensors;
  for (auto& [name, tensor] : replaced) tensors.push_back({name, std::move(tensor)});
  return tensors;
}

formats::Json with_quantization(const formats::Json& config, const models::QuantizationConfig& quantization) {
  formats::Json::Object members = config.as_object("config.json");
  members.emplace_back("quantization_config", models::to_json(quantization));
  return members;
}

folders::ModelOrigin origin_of(const runtime::ModelFiles& files, const formats::WeightSource& weights,
                               const fs::path& model, const FolderOptions& options) {
  folders::ModelOrigin origin{
      .source = files.home, .source_files = {}, .command = "quantize", .settings = {{"type", "int8"}}, .type = {}};
  if (options.activation_groups) origin.settings.emplace_back("activation_groups", *options.activation_groups);
  origin.settings.emplace_back("calibration", options.calibration.empty() ? "built-in" : "given");
  for (const formats::WeightFile& file : weights.files()) origin.source_files.push_back(file.path);
  pipelines::ModelPurpose purpose = pipelines::purpose_of(model);
  origin.type = std::move(purpose.type);
  origin.capabilities = std::move(purpose.capabilities);
  return origin;
}

}  // namespace

FolderReport quantize_folder(const fs::path& model, const fs::path& out, const FolderOptions& options) {
  constexpr std::int64_t kMaxGroups = 64;
  if (const std::int64_t groups = options.activation_groups.value_or(1); groups < 1 || groups > kMaxGroups)
    throw make_error(ErrorCode::invalid_argument, groups, " groups of activations: 1 to ", kMaxGroups, " are possible");
  folders::OutputFolder output(out);  // refused before any work is done
  const runtime::ModelFiles files = runtime::find_model_files(model);
  runtime::require_weights(files, "quantize");
  runtime::require_not_gguf(files, "quantize");
  if (const std::size_t count = runtime::transformer_folders(files.home).size(); count > 1)
    throw make_error(ErrorCode::unsupported, "the model in ", model.string(), " has ", count,
                     " Transformers, each for routes of its Router, and one is calibrated here; --dtype int8 rounds ",
                     "them as they are loaded: Router");
  if (base::is_there(files.folder / "gliner_config.json"))
    throw make_error(
        ErrorCode::unsupported, "the model in ", model.string(),
        " is a GLiNER model, which is not calibrated here; --dtype int8 rounds one as it is loaded: GLiNER");
  const fs::path config_path = files.folder / "config.json";
  const formats::Json config =
      formats::parse_json(base::read_contained_file(files.folder, "config.json"), config_path.string());
  if (config.is_object() && config.get_string("model_type", "") == models::kExtractorType)
    throw make_error(
        ErrorCode::unsupported, "the model in ", model.string(),
        " is a GLiNER2 model, which is not calibrated here; --dtype int8 rounds one as it is loaded: GLiNER2");
  if (const formats::Json* found = config.find("quantization_config"); found != nullptr && !found->is_null())
    throw make_error(ErrorCode::invalid_argument, "the model in ", model.string(),
                     " is quantized already: take the one that it was made from");
  if (!models::Adapters::find(files.folder, config).names().empty())
    throw make_error(ErrorCode::unsupported, model.string(),
                     " has adapters, which are trained for the weights as they ",
                     "are; --dtype int8 rounds the weights when they are loaded: adapters");
  const models::Architecture& architecture = models::find_architecture(config);
  const std::shared_ptr<const formats::WeightSource> weights = runtime::open_weights(files);
  const std::vector<std::string> texts = options.calibration.empty() ? calibration_texts() : options.calibration;
  const PackedTokens tokens = tokens_of(files.folder, texts, architecture.limits(config).positions);

  const ModelSource source{config, *weights, architecture};
  QuantizedModel quantized = quantize_model(source, tokens, options.activation_groups, options.report);
  FolderReport report{.layers = quantized.layers, .texts = tokens.lengths.size(), .tokens = tokens.ids.size()};
  report.bytes_before = weights->stored_bytes();
  std::set<std::string, std::less<>> left_out;
  if (is_for_embedding_alone(files.home, config)) left_out = not_read_by_encoder(source);
  for (const std::string& name : left_out)
    base::log(base::LogLevel::debug, "left out, as no vector of a text depends on it", {{"weight", name}});
  const std::vector<formats::NamedTensor> tensors = merged(*weights, std::move(quantized.tensors), left_out);
  for (const formats::NamedTensor& each : tensors) report.bytes_after += each.tensor.byte_count();

  const fs::path inner = files.folder == files.home ? fs::path() : files.folder.lexically_relative(files.home);
  output.copy_others(files.home, inner);
  const auto written = [&](std::size_t done) {
    if (!options.report) return;
    options.report({.stage = QuantizationStage::writing,
                    .done = done,
                    .total = tensors.size(),
                    .share = static_cast<double>(done) / static_cast<double>(tensors.size())});
  };
  formats::write_safetensors(output.path() / inner / "model.safetensors", tensors, {{"format", "pt"}}, written);
  const std::string text = formats::to_json_text(with_quantization(config, quantized.config)) + "\n";
  base::write_file_atomically(output.path() / inner / "config.json", std::as_bytes(std::span(text)));
  weights->require_unchanged();
  folders::write_manifest(output.path(), output.name(), origin_of(files, *weights, model, options),
                          runtime::model_digests());
  output.finish();
  return report;
}

}  // namespace alate::quantization
