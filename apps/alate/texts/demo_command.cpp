// alate demo: embeds and compares a few sentences.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "alate/embedding.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/verb.h"
#include "base/os/program_path.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<std::string> sentences() {
  return {"The cat sleeps on the warm window sill.",
          "A kitten is napping by the sunny window.",
          "The stock market fell sharply on Monday.",
          "Shares lost much of their value at the start of the week.",
          "How do I reset my password?",
          "I cannot log in to my account any more."};
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * double{b[i]};
    square_a += double{a[i]} * double{a[i]};
    square_b += double{b[i]} * double{b[i]};
  }
  return square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
}

std::string right_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

void write_table(const Tensor& vectors, const std::vector<std::string>& texts, Output& output) {
  const auto width = static_cast<std::size_t>(vectors.extent(1));
  const auto row = [&](std::size_t i) { return vectors.values<float>().subspan(i * width, width); };
  for (std::size_t i = 0; i < texts.size(); ++i) output.write("  " + std::to_string(i + 1) + "  " + texts[i] + "\n");
  output.write("\nHow alike they are (cosine: 1 is the same meaning, 0 is unrelated):\n\n   ");
  for (std::size_t i = 0; i < texts.size(); ++i) output.write(right_aligned(std::to_string(i + 1), 7));
  output.write("\n");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    output.write(right_aligned(std::to_string(i + 1), 3));
    for (std::size_t j = 0; j < texts.size(); ++j) output.write(right_aligned(shown(cosine(row(i), row(j)), 2), 7));
    output.write("\n");
  }
}

// Started by the script `run` of the source folder, the program is in no folder where shells look for it.
std::string command_to_type() {
  std::error_code error;
  const auto script = base::program_path().parent_path() / "../../../run";
  return std::filesystem::equivalent("run", script, error) ? "./run" : "alate";
}

}  // namespace

void run_demo(Arguments& arguments) {
  std::string model = "builtin:minilm";
  std::vector<std::string> texts;
  CommonOptions options;
  arguments.positional("MODEL", false, model);
  arguments.refuse_empty();
  arguments.positionals("TEXT", texts);
  const auto written = {OutputFormat::text};
  declare(arguments, options, {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading},
          written);
  if (!arguments.parse()) return;
  apply(options);
  output_format(options, written);
  Output output(options.out);
  if (texts.empty()) texts = sentences();

  const auto start = Clock::now();
  const auto pipeline = pipelines::load_embedding(find_model(options, model), load_request(options));
  const double load_ms = milliseconds_since(start);
  const auto loaded = Clock::now();
  const Embeddings result = pipeline.embed(texts);
  const double embed_ms = milliseconds_since(loaded);

  output.write("Alate turns sentences into vectors whose angles say how alike their meanings are.\n\n");
  write_table(result.vectors, texts, output);
  output.write("\nModel loaded in " + shown(load_ms, 0) + " ms; " + std::to_string(texts.size()) + " sentences (" +
               std::to_string(result.tokens) + " tokens) to vectors of " + std::to_string(pipeline.dimensions()) +
               " numbers in " + shown(embed_ms, 1) +
               " ms: " + shown(static_cast<double>(result.tokens) / embed_ms * 1e3, 0) + " tokens/s on " +
               pipeline.facts().backend + ".\n");
  const std::string name = shortest_reference(options, model);
  output.write("\nWhat to try next:\n");
  const std::string program = command_to_type();
  output.write("  " + program + " embed " + name + " \"a text\" \"another\" --output json\n");
  output.write("  " + program + " tokenize " + name + " \"What is a token?\"\n");
  output.write("  " + program + " bench " + name + " --lengths 32x128\n");
  output.finish();
}

}  // namespace alate::app
