// alate embed: every output format against recorded embeddings, and every form of input.
#include <gtest/gtest.h>

#include <charconv>
#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::Json;

std::vector<std::string> embed_arguments(const std::string& model, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"embed", tiny_model(model).string(), "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The recorded texts hold line breaks: only JSON lines carry them over standard input.
std::string as_jsonl(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += formats::to_json_text(Json::Object{{"text", text}}) + "\n";
  return out;
}

std::vector<float> numbers_of(std::string_view text, char separator) {
  std::vector<float> out;
  for (const std::string& line : lines_of(text)) {
    for (const char* at = line.data(); at < line.data() + line.size();) {
      float value = 0;
      const auto [end, problem] = std::from_chars(at, line.data() + line.size(), value);
      EXPECT_EQ(problem, std::errc());
      out.push_back(value);
      if (end < line.data() + line.size()) {
        EXPECT_EQ(*end, separator);
      }
      at = end + 1;
    }
  }
  return out;
}

std::vector<float> numbers_of(const Json& rows) {
  std::vector<float> out;
  for (const Json& row : rows.as_array("rows")) {
    for (const Json& value : row.as_array("row")) out.push_back(static_cast<float>(value.as_double("value")));
  }
  return out;
}

ProgramRun run_recorded(const std::string& model, const RecordedCall& call, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = embed_arguments(model, {"--input", "jsonl"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, {.input = as_jsonl(call.texts)});
}

TEST(CliEmbed, TextAndCsvAreAVectorALine) {
  const RecordedCall call = recorded_call("st_mean", "texts");
  for (const auto& [format, separator] : {std::pair("text", ' '), std::pair("csv", ',')}) {
    const ProgramRun run = run_recorded("st_mean", call, {"--output", format});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(lines_of(run.out).size(), call.texts.size());
    expect_near(numbers_of(run.out, separator), call.embeddings.values<float>());
  }
}

TEST(CliEmbed, JsonIsTheBodyOfTheRoute) {
  const RecordedCall call = recorded_call("st_mean", "texts");
  const ProgramRun run = run_recorded("st_mean", call, {"--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json body = formats::parse_json(run.out, "output");
  EXPECT_EQ(body.get_string("model", ""), tiny_model("st_mean").string());
  EXPECT_EQ(body.get_int("prompt_eval_count", 0), call.tokens);
  EXPECT_GE(body.get_int("total_duration", 0), body.get_int("load_duration", 0));
  EXPECT_GT(body.get_int("load_duration", 0), 0);
  expect_near(numbers_of(*body.find("embeddings")), call.embeddings.values<float>());
  ASSERT_EQ(call.truncated.size(), 1u);
  ASSERT_NE(body.find("truncated"), nullptr);
  EXPECT_EQ(formats::to_json_text(*body.find("truncated")), "[" + std::to_string(call.truncated[0]) + "]");
}

TEST(CliEmbed, JsonLinesSayWhichTextsWereCut) {
  const RecordedCall call = recorded_call("st_mean", "texts");
  const ProgramRun run = run_recorded("st_mean", call, {"--output", "jsonl"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  Json::Array rows;
  for (const std::string& line : lines_of(run.out)) {
    const Json item = formats::parse_json(line, "line");
    EXPECT_EQ(item.get_int("index", -1), static_cast<std::int64_t>(rows.size()));
    EXPECT_EQ(item.find("truncated")->as_bool("truncated"),
              static_cast<std::int64_t>(rows.size()) == call.truncated.at(0));
    rows.push_back(*item.find("embedding"));
  }
  expect_near(numbers_of(Json(rows)), call.embeddings.values<float>());
}

TEST(CliEmbed, TensorFilesHoldAllVectors) {
  const RecordedCall call = recorded_call("st_mean", "texts");
  const TemporaryFolder folder;
  for (const std::string format : {"npy", "safetensors"}) {
    const auto named = folder.path() / ("embeddings." + format);
    const ProgramRun to_file = run_recorded("st_mean", call, {"--out", named.string()});
    EXPECT_EQ(to_file.exit_code, 0) << to_file.error;
    EXPECT_EQ(to_file.out, "");
    const auto tensors = formats::read_tensors(named);
    ASSERT_EQ(tensors.size(), 1u);
    EXPECT_EQ(tensors[0].name, "embeddings");
    EXPECT_EQ(tensors[0].tensor.shape(), call.embeddings.shape());
    expect_near(tensors[0].tensor.values<float>(), call.embeddings.values<float>());

    const ProgramRun to_output = run_recorded("st_mean", call, {"--output", format});
    EXPECT_EQ(to_output.out, base::read_text_file(named));
  }
}

TEST(CliEmbed, HonoursPromptsAndModules) {
  const RecordedCall query = recorded_call("st_prompts", "query");
  const ProgramRun by_name = run_recorded("st_prompts", query, {"--prompt-name", "query"});
  expect_near(numbers_of(by_name.out, ' '), query.embeddings.values<float>());
  const ProgramRun as_text = run_recorded("st_prompts", query, {"--prompt", "query: "});
  EXPECT_EQ(as_text.out, by_name.out);
  for (const std::string model : {"st_cls", "st_dense_tanh", "st_mean_normalize"}) {
    SCOPED_TRACE(model);
    const RecordedCall call = recorded_call(model, "texts");
    expect_near(numbers_of(run_recorded(model, call, {}).out, ' '), call.embeddings.values<float>());
  }
}

TEST(CliEmbed, NormalizesAndShortensOnRequest) {
  const auto length_of = [](const std::string& text) {
    double squares = 0;
    for (const float value : numbers_of(text, ' ')) squares += double{value} * double{value};
    return std::sqrt(squares);
  };
  const std::string text = "the cat sat on the mat.";
  const ProgramRun plain = run_program(embed_arguments("st_mean", {text}));
  EXPECT_GT(std::abs(length_of(plain.out) - 1), 0.1);
  EXPECT_NEAR(length_of(run_program(embed_arguments("st_mean", {text, "--normalize"})).out), 1, 1e-5);
  EXPECT_EQ(run_program(embed_arguments("st_mean", {text, "--no-normalize"})).out, plain.out);
  EXPECT_GT(std::abs(length_of(run_program(embed_arguments("st_mean_normalize", {text, "--no-normalize"})).out) - 1),
            0.1);
  const ProgramRun shorter = run_program(embed_arguments("st_mean_normalize", {text, "--dimensions", "5"}));
  EXPECT_EQ(numbers_of(shorter.out, ' ').size(), 5u);
  EXPECT_NEAR(length_of(shorter.out), 1, 1e-5);
}

TEST(CliEmbed, TakesTextsFromArgumentsLinesAndFiles) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts = {"the cat", "[fox, jumped]", "", "cat?"};
  const std::string lines = "the cat\n[fox, jumped]\n\ncat?\n";
  const std::string wanted = run_program(embed_arguments("st_mean", texts)).out;
  EXPECT_EQ(lines_of(wanted).size(), 4u);
  EXPECT_EQ(run_program(embed_arguments("st_mean", {}), {.input = lines}).out, wanted);
  EXPECT_EQ(run_program(embed_arguments("st_mean", {"--file", "-"}), {.input = lines}).out, wanted);
  EXPECT_EQ(run_program(embed_arguments("st_mean", {"--file", folder.write("texts.txt", lines).string()})).out, wanted);
  EXPECT_EQ(
      run_program(embed_arguments("st_mean", {"--file", folder.write("texts.jsonl", as_jsonl(texts)).string()})).out,
      wanted);
  // The last line needs no end.
  EXPECT_EQ(run_program(embed_arguments("st_mean", {}), {.input = lines.substr(0, lines.size() - 1)}).out, wanted);
}

TEST(CliEmbed, OrderAndBatchesDoNotChangeAnything) {
  const RecordedCall call = recorded_call("st_mean", "texts");
  const std::string wanted = run_recorded("st_mean", call, {}).out;
  EXPECT_EQ(run_recorded("st_mean", call, {"--batch-size", "1"}).out, wanted);
  EXPECT_EQ(run_recorded("st_mean", call, {"--threads", "1"}).out, wanted);
  EXPECT_EQ(run_recorded("st_mean", call, {"--threads", "3", "--pin-threads"}).out, wanted);
  EXPECT_EQ(run_recorded("st_mean", call, {"--no-mmap"}).out, wanted);
}

TEST(CliEmbed, NoTextsGiveAnEmptyResult) {
  const TemporaryFolder folder;
  for (const std::string format : {"text", "jsonl", "csv"}) {
    const ProgramRun run = run_program(embed_arguments("st_mean", {"--output", format}));
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.out, "");
  }
  const ProgramRun json = run_program(embed_arguments("st_mean", {"--output", "json"}));
  EXPECT_EQ(formats::to_json_text(*formats::parse_json(json.out, "output").find("embeddings")), "[]");
  const auto file = folder.path() / "none.npy";
  EXPECT_EQ(run_program(embed_arguments("st_mean", {"--out", file.string()})).exit_code, 0);
  EXPECT_EQ(formats::read_tensors(file).at(0).tensor.shape(), (Shape{DType::f32, {0, 16}}));
}

TEST(CliEmbed, WarnsOnceOfCutTexts) {
  const std::vector<std::string> arguments = {"embed", tiny_model("st_mean").string(), "--max-length", "4"};
  const ProgramRun run = run_program(arguments, {.input = "cat\nthe cat sat on the mat\nfox\na b c d e f\n"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.error).size(), 1u);
  EXPECT_NE(run.error.find("2 of 4 texts were cut to 4 tokens"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find("texts 1 3, counted from 0"), std::string::npos) << run.error;
  EXPECT_EQ(run_program(arguments, {.input = "cat\nfox\n"}).error, "");
}

}  // namespace
}  // namespace alate::tests
