// alate embed
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "alate/error.h"
#include "alate/tensor.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/embedding_load.h"
#include "apps/alate/texts/embedding_writer.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/named_tensor.h"
#include "formats/tensor_file.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

// In what numbers the vectors are written.
struct NumberOptions {
  Precision precision = Precision::float32;
  std::optional<Tensor> ranges;  // of --calibration
};

// What the steps of a part share.
struct EmbedJob {
  const EmbeddingPipeline& pipeline;
  const EmbeddingKinds& kinds;
  const EmbedOptions& options;
  const NumberOptions& numbers;
  Profiler& profiler;
  EmbeddingWriter& writer;
  std::size_t tokens = 0;
};

class EmbedPart : public TextPart {
 public:
  explicit EmbedPart(EmbedJob& job) : TextPart("embed"), job_(job) {}

  void prepare() override {
    run_ = std::make_unique<pipelines::EmbedRun>(job_.pipeline, pipelines::EmbedInputs{.texts = views()}, job_.options,
                                                 job_.kinds);
    rows_ = run_->prepare(until_interrupted());
    texts = {};  // which this reads all of
  }
  void run(const PartRun& run) override {
    const auto start = Clock::now();
    backends::RunOptions how = job_.profiler.options();
    how.cancellation = run.cancellation;
    pipelines::run_prepared(*run_, std::move(rows_), pipelines::row_budget(job_.options), how, run.computed);
    embeddings_ = run_->take_embeddings();
    if (job_.kinds.dense)
      embeddings_.dense = quantize_embeddings(embeddings_.dense, job_.numbers.precision, job_.numbers.ranges);
    job_.profiler.add(std::chrono::duration<double>(Clock::now() - start).count());
  }
  void write(const PartPlace& place) override {
    if (!run_->too_long().empty()) throw too_long_error(place.first + run_->too_long().front(), run_->excess());
    job_.writer.add(embeddings_, place.first, members, place.refused);
    job_.tokens += embeddings_.tokens;
  }
  std::span<const std::size_t> truncated() const override { return embeddings_.truncated; }

 private:
  EmbedJob& job_;
  std::unique_ptr<pipelines::EmbedRun> run_;
  pipelines::PreparedRows rows_;
  KindEmbeddings embeddings_;
};

// The ranges of the vectors in a file as `alate embed --output npy` writes it.
Tensor ranges_of_file(const std::filesystem::path& path, std::size_t dimensions) {
  const std::vector<formats::NamedTensor> tensors = formats::read_tensors(path);
  const auto found = std::ranges::find(tensors, "embeddings", &formats::NamedTensor::name);
  if (found == tensors.end() && tensors.size() != 1)
    throw make_error(ErrorCode::invalid_argument, path.string(), " has ", tensors.size(),
                     " tensors, none of which is named embeddings");
  const Tensor& vectors = found == tensors.end() ? tensors.front().tensor : found->tensor;
  const bool fits = vectors.shape().dims.size() == 2 && vectors.extent(1) == static_cast<std::int64_t>(dimensions);
  if (!fits)
    throw make_error(ErrorCode::invalid_argument, path.string(), " has ", to_string(vectors.shape()),
                     "; the calibration needs vectors of ", dimensions, " numbers, as this command would write them");
  return embedding_ranges(vectors);
}

// Throws for combinations that mean nothing.
void require_precision(const Arguments& arguments, const NumberOptions& numbers, const std::string& calibration,
                       const EmbeddingKinds& kinds) {
  const bool has_ranges = numbers.precision == Precision::int8 || numbers.precision == Precision::uint8;
  if (!calibration.empty() && !has_ranges)
    throw arguments.usage_error("--calibration is for --precision int8 and uint8");
  if (!kinds.dense && numbers.precision != Precision::float32)
    throw arguments.usage_error("--precision is for dense embeddings; leave out --kind or choose dense");
}

// Why an output cannot be continued, and what can; empty: it can.
std::string_view not_resumable(OutputFormat format, const EmbeddingKinds& kinds) {
  if (format == OutputFormat::json) return "json has times of one run; choose jsonl, csv, text, npy or safetensors";
  if (format == OutputFormat::safetensors && kinds != EmbeddingKinds::only(EmbeddingKind::dense))
    return "safetensors of sparse and multi-vector embeddings is written at the end; choose jsonl or csv";
  return {};
}

// The kinds that --kind names; none where it is not given.
EmbeddingKinds named_kinds(const Arguments& arguments, const std::vector<std::string>& names) {
  EmbeddingKinds kinds;
  for (const std::string& name : names) {
    const std::optional<EmbeddingKind> kind = parse_embedding_kind(name);
    if (!kind) throw arguments.usage_error("--kind is '" + name + "'; it may be dense, sparse and multi-vector");
    kinds.add(*kind);
  }
  return kinds;
}

// What the vectors depend on, besides the texts.
FingerprintBuilder identity_of(const std::filesystem::path& folder, const EmbeddingPipeline& pipeline,
                               const EmbeddingKinds& kinds, const EmbedOptions& options, const NumberOptions& numbers) {
  FingerprintBuilder identity = identity_of_model(pipelines::pipeline_for(pipeline, options.task).model(), folder);
  add_number(identity, options.max_length);
  identity.add(options.long_texts ? to_string(*options.long_texts) : "");
  add_number(identity, options.stride);
  add_number(identity, options.dimensions);
  add_number(identity, options.normalize);
  add_number(identity, options.sparse_top_k);
  for (const EmbeddingKind kind : kinds.list()) identity.add(to_string(kind));
  identity.add(options.task);
  identity.add(options.prompt_name).add(std::uint64_t{options.prompt.has_value()}).add(options.prompt.value_or(""));
  identity.add(to_string(numbers.precision)).add(std::uint64_t{numbers.ranges.has_value()});
  if (numbers.ranges) identity.add(numbers.ranges->bytes());
  return identity;
}

}  // namespace

void run_embed(Arguments& arguments) {
  std::string model;
  TextInput input;
  EmbedOptions embed;
  std::vector<std::string> kind_names;
  NumberOptions numbers;
  std::string calibration;
  bool forces = false;
  Profiler profiler;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  arguments.list("--kind", "KIND", "dense, sparse or multi-vector, or several; else what the model is for", kind_names);
  arguments.choices({"dense", "sparse", "multi-vector"});
  arguments.option("--top-k", "N", "keep the N largest weights of each sparse embedding", embed.sparse_top_k);
  arguments.option("--dimensions", "N", "keep the first N numbers of each dense vector", embed.dimensions);
  arguments.flag("--normalize,!--no-normalize", "length 1, or as they are; else as the model says", embed.normalize);
  arguments.option("--task", "TASK", "what the texts are for: query or document, or a task that the model knows",
                   embed.task);
  arguments.choices({"query", "document"});
  arguments.option("--prompt-name", "NAME", "put this prompt of the model before each text", embed.prompt_name);
  arguments.option("--prompt", "TEXT", "put this before each text", embed.prompt);
  arguments.one_of("--precision", "TYPE", "the vectors' numbers", {"float32", "int8", "uint8", "binary", "ubinary"},
                   [&numbers](std::string_view name) { numbers.precision = parse_precision(name).value(); });
  arguments.one_of("--long", "HOW", "how texts that are too long are treated", {"error", "cut", "cut-left", "windows"},
                   [&embed](std::string_view name) { embed.long_texts = parse_long_texts(name); });
  arguments.option("--stride", "N", "tokens that a window shares with the one before it", embed.stride);
  arguments.option("--calibration", "FILE", "int8 and uint8 by the ranges of the vectors in FILE, npy or safetensors",
                   calibration);
  declare_force(arguments, forces);
  BigJobOptions chosen;
  declare(arguments, chosen);
  profiler.declare(arguments);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl,
                        OutputFormat::csv,  OutputFormat::npy,  OutputFormat::safetensors};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  const EmbeddingKinds named = named_kinds(arguments, kind_names);
  if (named != EmbeddingKinds{}) require_format(format, named);
  const EmbeddingKinds dense = EmbeddingKinds::only(EmbeddingKind::dense);
  BigJob job(arguments, options,
             {.verb = "embed",
              .options = chosen,
              .format = format,
              .not_resumable = not_resumable(format, named == EmbeddingKinds{} ? dense : named)},
             input);
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;

  const pipelines::EmbeddingRequest load = embedding_request(options, forces);
  const std::filesystem::path folder = find_model(options, model);
  TextSource& source = job.open(std::move(input));
  const std::optional<std::size_t> texts = job.count_single_texts();

  const auto start = Clock::now();
  EmbeddingTotals totals;
  const auto pipeline = pipelines::load_embedding(folder, load);
  profiler.check(pipeline.facts().backend);
  totals.load_ns = nanoseconds_since(start);

  const EmbeddingKinds kinds = named != EmbeddingKinds{} ? named : EmbeddingKinds::only(pipeline.main_kind());
  pipelines::require_kinds(pipeline, kinds);
  require_format(format, kinds);
  if (const std::string_view why = not_resumable(format, kinds); chosen.resumes && !why.empty())
    throw arguments.usage_error("--resume cannot continue this output: " + std::string(why));
  require_precision(arguments, numbers, calibration, kinds);
  const std::size_t dimensions = kinds.dense ? pipelines::kept_dimensions(pipeline, embed) : 0;
  if (!calibration.empty()) numbers.ranges = ranges_of_file(calibration, dimensions);
  const std::vector<std::string_view> own_members = embedding_members(kinds);
  if (format == OutputFormat::jsonl) source.keep_members(own_members);

  job.take_up([&] { return identity_of(folder, pipeline, kinds, embed, numbers); });
  const Tensor none =
      quantize_embeddings(Tensor::zeros({DType::f32, {0, static_cast<std::int64_t>(dimensions)}}), numbers.precision);
  const auto writer = make_embedding_writer(format, job.output(),
                                            {.model = model,
                                             .kinds = kinds,
                                             .numbers = static_cast<std::size_t>(none.extent(1)),
                                             .dtype = none.dtype(),
                                             .texts = texts,
                                             .is_begun = job.is_begun(),
                                             .done = job.done()});
  EmbedJob shared{.pipeline = pipeline,
                  .kinds = kinds,
                  .options = embed,
                  .numbers = numbers,
                  .profiler = profiler,
                  .writer = *writer};
  job.run([&] { return std::make_unique<EmbedPart>(shared); });
  totals.tokens = shared.tokens;
  totals.total_ns = nanoseconds_since(start);
  if (profiler.is_wanted() && format == OutputFormat::json) totals.profile = profiler.json(1);
  writer->finish(totals);
  job.finish(options.max_length.value_or(pipelines::pipeline_for(pipeline, embed.task).max_length()));
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(1);
}

}  // namespace alate::app
