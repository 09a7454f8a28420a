// alate similarity
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_similarity.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/cut_texts.h"
#include "apps/alate/texts/embedding_load.h"
#include "apps/alate/texts/job_part.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/similarity_json.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostTexts = 4096;  // each is compared with each

std::vector<std::string> read_texts(TextSource& source) {
  std::vector<std::string> texts;
  while (auto input = next_single_text(source, "similarity")) {
    if (texts.size() == kMostTexts)
      throw make_error(ErrorCode::invalid_argument, "there are more than ", kMostTexts,
                       " texts, and each would be compared with each; embed them, or search an index of them");
    texts.push_back(std::move(input->text));
  }
  return texts;
}

// A row a text, its numbers separated by `separator`.
std::string rows_of(const Tensor& similarities, char separator) {
  const auto width = static_cast<std::size_t>(similarities.extent(1));
  std::string rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(similarities.extent(0)); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      if (j > 0) rows += separator;
      formats::append_json_number(rows, similarities.values<float>()[i * width + j]);
    }
    rows += '\n';
  }
  return rows;
}

}  // namespace

void run_similarity(Arguments& arguments) {
  std::string model;
  TextInput input;
  EmbedOptions embed;
  CommonOptions options;
  bool forces = false;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  arguments.option("--prompt-name", "NAME", "put this prompt of the model before each text", embed.prompt_name);
  declare_force(arguments, forces);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::csv};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;
  TextSource source(std::move(input));
  const std::vector<std::string> texts = read_texts(source);

  const auto start = Clock::now();
  const auto pipeline = pipelines::load_embedding(find_model(options, model), embedding_request(options, forces));
  const std::int64_t load_ns = nanoseconds_since(start);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const KindEmbeddings embedded = pipelines::embed_texts(pipeline, views, EmbeddingKinds::only(EmbeddingKind::dense),
                                                         embed, {.cancellation = until_interrupted()});
  const Tensor alike = similarities(embedded.dense, embedded.dense, pipeline.similarity());
  if (format == OutputFormat::json) {
    output.write(pipelines::similarity_json(alike, {.model = model,
                                                    .total_ns = nanoseconds_since(start),
                                                    .load_ns = load_ns,
                                                    .tokens = embedded.tokens,
                                                    .truncated = embedded.truncated}) +
                 "\n");
  } else {
    output.write(rows_of(alike, format == OutputFormat::csv ? ',' : '\t'));
  }
  output.finish();
  CutTexts cut;
  cut.add(embedded.truncated, 0);
  cut.warn(texts.size(), options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
