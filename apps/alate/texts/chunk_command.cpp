// alate chunk
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "alate/error.h"
#include "alate/tokenizer.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/embedding_load.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/texts/whole_file.h"
#include "apps/alate/verb.h"
#include "pipelines/chunk/chunk_json.h"
#include "pipelines/chunk/chunking.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/tasks/tasks.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::app {
namespace {

// The members that a line of jsonl has of its own.
constexpr std::array<std::string_view, 9> kChunkMembers = {"index",      "id",       "text",   "start_char", "end_char",
                                                           "byte_start", "byte_end", "tokens", "embedding"};
// Small parts: a text may become several times as many bytes of JSON.
constexpr std::size_t kPartTexts = 256, kPartBytes = std::size_t{1} << 20;

struct ChunkJob {
  const Chunker& chunker;
  const ChunkOptions& options;
  const EmbedOptions& embed;
  bool late = false;
  OutputFormat format = OutputFormat::text;
  std::string shown;  // json's "model"
  Output& output;
};

std::span<const float> vector_of(const Tensor& vectors, std::size_t i) {
  if (vectors.shape().dims.size() != 2) return {};
  const auto width = static_cast<std::size_t>(vectors.extent(1));
  return vectors.values<float>().subspan(i * width, width);
}

class ChunkPart : public TextPart {
 public:
  explicit ChunkPart(ChunkJob& job) : TextPart("chunk"), job_(job) {}

  void run(const PartRun& run) override {
    results_.resize(texts.size());
    const bool computes =
        job_.late || job_.options.method == ChunkMethod::semantic || job_.options.method == ChunkMethod::classifier;
    if (!computes) return run_in_parallel(texts.size(), run, [&](std::size_t i) { cut(i); });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      run.cancellation.check();
      cut(i);
      run.computed(1);
    }
  }

  void write(const PartPlace& place) override {
    write_in_order(
        results_.size(), place.refused, [&](std::size_t i) { write_result(i, place.first + i); },
        [&](const RefusedLine& line) {
          if (job_.format == OutputFormat::jsonl) job_.output.write(error_line(line) + "\n");
        });
  }

 private:
  void cut(std::size_t i) {
    // --invalid-utf8 replace leaves the bytes as they are; chunks are slices of the repaired text.
    if (const auto repaired = tokenizers::repair_utf8(texts[i])) texts[i] = *repaired;
    if (job_.late) {
      results_[i] = job_.chunker.chunk_late(texts[i], job_.options, job_.embed);
    } else {
      results_[i].chunks = job_.chunker.chunk(texts[i], job_.options);
    }
  }

  void write_result(std::size_t i, std::size_t index) {
    const LateChunks& result = results_[i];
    if (job_.format == OutputFormat::json) {
      if (index > 0)
        throw Error(ErrorCode::invalid_argument, "json is the body for one text, and there are several: choose jsonl");
      return job_.output.write(
          pipelines::chunks_json(result.chunks, job_.late ? &result.vectors : nullptr, job_.shown) + "\n");
    }
    for (std::size_t id = 0; id < result.chunks.chunks.size(); ++id) {
      const Chunk& chunk = result.chunks.chunks[id];
      std::string line;
      if (job_.format == OutputFormat::jsonl) {
        line = begin_line(members[i]);
        line += "\"index\":" + std::to_string(index) + ",";
        pipelines::append_chunk_members(line, id, chunk, chunk.text, vector_of(result.vectors, id));
        line += '}';
      } else {
        line = std::to_string(chunk.start) + '\t' + std::to_string(chunk.end) + '\t' + on_one_line(chunk.text);
      }
      job_.output.write(line + "\n");
    }
  }

  ChunkJob& job_;
  std::vector<LateChunks> results_;
};

double parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw make_error(ErrorCode::invalid_argument, "is a number");
  return value;
}

void declare(Arguments& arguments, ChunkOptions& options, bool& late, std::optional<ChunkMethod>& method) {
  arguments.one_of("--method", "METHOD", "how texts are cut; default: fixed",
                   {"fixed", "recursive", "sentence", "semantic", "classifier"},
                   [&method](std::string_view name) { method = parse_chunk_method(name); });
  arguments.option("--target-tokens", "N", "the most tokens of a chunk; default: 500", options.target_tokens);
  arguments.option("--overlap-tokens", "N",
                   "the most that it repeats of the one before; default: a tenth of them, at most 50",
                   options.overlap_tokens);
  arguments.option("--separator", "TEXT", "what sections end with, of the method fixed; default: an empty line",
                   options.separator);
  arguments.option("--max-chunks", "N", "leave out the text after so many", options.max_chunks);
  arguments.option("--threshold", "COSINE",
                   "semantic: end a chunk where neighbouring sentences are less alike; default: 0.5",
                   [&options](std::string_view text) { options.threshold = parse_number(text); });
  arguments.option("--percentile", "P", "semantic: the same, by the percentile of the text's own cosines",
                   [&options](std::string_view text) { options.percentile = parse_number(text); });
  arguments.flag("--late", "a vector for each chunk, made by the model from the whole text", late);
}

std::filesystem::path find_counting_model(const CommonOptions& options, const std::string& model,
                                          const TextInput& input) {
  if (model.empty()) return {};
  try {
    return find_model(options, model, ModelUse::tokenizer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found || !input.arguments.empty() || !input.file.empty()) throw;
    throw Error(error.code(), error.message() +
                                  "; the first argument is a model: to cut a text without one, type alate "
                                  "chunk fixed TEXT");
  }
}

// What the chunks depend on, besides the texts.
void add_options(FingerprintBuilder& identity, const ChunkOptions& options, const EmbedOptions& embed, bool late) {
  identity.add(to_string(options.method)).add(std::uint64_t{options.target_tokens});
  add_number(identity, options.overlap_tokens);
  identity.add(options.separator);
  add_number(identity, options.max_chunks);
  identity.add(std::to_string(options.threshold)).add(std::to_string(options.percentile.value_or(-1)));
  identity.add(std::uint64_t{late});
  add_number(identity, embed.max_length);
}

}  // namespace

void run_chunk(Arguments& arguments) {
  std::string model;
  TextInput input;
  ChunkOptions chunk;
  bool late = false, has_lines = false, forces = false;
  CommonOptions options;
  arguments.positional("MODEL", false, model);
  arguments.refuse_empty();
  declare(arguments, input, "a text from there, or with --lines and of .jsonl files one a line");
  arguments.flag("--lines", "each line of the file is a text; else a file that is not .jsonl is one text", has_lines);
  std::optional<ChunkMethod> method;
  declare(arguments, chunk, late, method);
  declare_force(arguments, forces);
  BigJobOptions chosen;
  declare(arguments, chosen);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length},
          written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  // A method's name in MODEL's place: tokens are counted without a model.
  if (const std::optional<ChunkMethod> named = parse_chunk_method(model)) {
    method = named;
    model.clear();
  }
  chunk.method = method.value_or(chunk.method);
  std::string shown = model.empty() ? std::string(to_string(chunk.method)) : model;
  pipelines::check_chunk_options(chunk);
  const bool computes = late || chunk.method == ChunkMethod::semantic;
  if (chunk.method == ChunkMethod::classifier && (model.empty() || late))
    throw arguments.usage_error(late ? "--late pools an embedding model's vectors, and the method classifier has none"
                                     : "the method classifier needs a MODEL for token classification");
  if (computes && model.empty())
    throw arguments.usage_error(late ? "--late needs an embedding MODEL"
                                     : "the method semantic needs an embedding MODEL");
  if (late && format == OutputFormat::text)
    throw arguments.usage_error("--output text has no place for vectors; choose json or jsonl");
  const bool is_lines = has_lines || input.format == "jsonl" || input.file.ends_with(".jsonl");
  if (!is_lines && chosen.resumes)
    throw arguments.usage_error("--resume is for .jsonl files and --lines: a file by itself is one text");
  BigJob job(arguments, options,
             {.verb = "chunk",
              .options = chosen,
              .format = format,
              .not_resumable = format == OutputFormat::json ? "json is for one text; choose jsonl or text" : "",
              .part_inputs = kPartTexts,
              .part_bytes = kPartBytes},
             input);
  const EmbedOptions embed{.max_length = options.max_length};
  const std::filesystem::path folder = find_counting_model(options, model, input);
  if (!method && !late && !model.empty() && pipelines::divides_texts(folder)) chunk.method = ChunkMethod::classifier;
  if (!is_lines && input.arguments.empty()) read_whole_file(input);
  TextSource& source = job.open(std::move(input));
  if (format == OutputFormat::jsonl) source.keep_members(kChunkMembers);
  job.count_single_texts();

  std::optional<EmbeddingPipeline> pipeline;
  std::optional<RecognizePipeline> recognizer;
  std::optional<Chunker> chunker;
  if (chunk.method == ChunkMethod::classifier) {
    recognizer = pipelines::recognizer_of(
        pipelines::load_text_model(folder, load_request(options), pipelines::Task::recognize, {}));
    chunker.emplace(*recognizer);
  } else if (computes) {
    pipeline = pipelines::load_embedding(folder, embedding_request(options, forces));
    chunker.emplace(*pipeline);
  } else {
    chunker = model.empty() ? Chunker() : Chunker(Tokenizer::load(folder));
  }
  job.take_up([&] {
    FingerprintBuilder identity;
    if (pipeline) {
      identity = identity_of_model(pipeline->model(), folder);
    } else if (recognizer) {
      identity = identity_of_model(recognizer->model(), folder);
    } else if (!model.empty()) {
      add_model_files(identity, folder);
    }
    add_options(identity, chunk, embed, late);
    return identity;
  });
  ChunkJob shared{.chunker = *chunker,
                  .options = chunk,
                  .embed = embed,
                  .late = late,
                  .format = format,
                  .shown = std::move(shown),
                  .output = job.output()};
  job.run([&] { return std::make_unique<ChunkPart>(shared); });
  job.finish();
}

}  // namespace alate::app
