// GLiNER2 models against the package gliner2, on what tests/golden/record_extract.py recorded.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/extract.h"
#include "base/threads/cancellation.h"
#include "formats/json.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/extract/schema_prompt.h"
#include "pipelines/gliner/extraction_words.h"
#include "pipelines/tasks/tasks.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

using base::error_of;
using formats::Json;
using tests::RecordedExtraction;
using tests::RecordedExtractor;

bool is_byte_place(std::string_view name) { return name == "byte_start" || name == "byte_end"; }

// Places in bytes, which the package does not have, must be those of the value's text.
void expect_same_value(const Json& found, const Json& wanted, const std::string& place, std::string_view text) {
  if (wanted.is_number()) {
    ASSERT_TRUE(found.is_number()) << place;
    EXPECT_NEAR(found.as_double("found"), wanted.as_double("wanted"), 2e-5) << place;
  } else if (wanted.is_array()) {
    ASSERT_TRUE(found.is_array()) << place << ": " << formats::to_json_text(found);
    const Json::Array &mine = found.as_array("found"), &own = wanted.as_array("wanted");
    ASSERT_EQ(mine.size(), own.size()) << place << ": " << formats::to_json_text(found) << "\nwanted "
                                       << formats::to_json_text(wanted);
    for (std::size_t i = 0; i < own.size(); ++i)
      expect_same_value(mine[i], own[i], place + "[" + std::to_string(i) + "]", text);
  } else if (wanted.is_object()) {
    ASSERT_TRUE(found.is_object()) << place << ": " << formats::to_json_text(found);
    std::vector<std::string> names, wanted_names;
    for (const auto& [name, value] : found.as_object("found")) {
      if (!is_byte_place(name)) names.push_back(name);
    }
    for (const auto& [name, value] : wanted.as_object("wanted")) {
      if (is_byte_place(name)) continue;
      wanted_names.push_back(name);
      ASSERT_NE(found.find(name), nullptr) << place << "." << name;
      expect_same_value(*found.find(name), value, place + "." + name, text);
    }
    EXPECT_EQ(names, wanted_names) << place;
    if (found.find("byte_end") == nullptr) return;
    const auto begin = static_cast<std::size_t>(found.get_int("byte_start", 0));
    const auto end = static_cast<std::size_t>(found.get_int("byte_end", 0));
    EXPECT_EQ(text.substr(begin, end - begin), found.get_string("text", "")) << place;
  } else {
    EXPECT_EQ(formats::to_json_text(found), formats::to_json_text(wanted)) << place;
  }
}

Json as_json(const Extraction& extraction, const pipelines::ExtractionForm& form) {
  return formats::parse_json(pipelines::extraction_json(extraction, form), "the extraction");
}

class ExtractGolden : public testing::TestWithParam<std::string> {
 protected:
  void expect_the_packages_results(const ExtractPipeline& pipeline) const {
    for (const RecordedExtraction& run : recorded_.runs) {
      ExtractOptions options{.threshold = run.threshold};
      options.long_texts.max_length = run.windows;
      std::vector<std::string> texts;
      for (const std::size_t i : run.texts) texts.push_back(recorded_.texts[i]);
      const Extractions found = pipeline.extract(texts, ExtractSchema::parse(run.schema), options);
      ASSERT_EQ(found.texts.size(), texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        SCOPED_TRACE(run.schema + (run.windows ? " windows " : " ") + texts[i]);
        expect_same_value(as_json(found.texts[i], {.confidence = true, .spans = true}), run.results[i], "", texts[i]);
        if (!run.plain.empty()) expect_same_value(as_json(found.texts[i], {}), run.plain[i], "plain", texts[i]);
      }
    }
  }

  base::TemporaryFolder folder_;
  const RecordedExtractor recorded_ = tests::write_tiny_extractor(folder_.path() / "model", GetParam());
};

TEST_P(ExtractGolden, ResultsEqualThePackages) {
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    expect_the_packages_results(
        ExtractPipeline::load(folder_.path() / "model", {.backend = {.places = {BackendPlace::parse(backend)}}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ExtractGolden, testing::Values("lstm", "lstm_v2", "experts"),
                         [](const auto& model) { return model.param; });

class Extract : public testing::Test {
 protected:
  Error refusal(const std::string& schema, const ExtractOptions& options = {}) const {
    return error_of([&] { (void)pipeline_.extract({"Ada met Grace."}, ExtractSchema::parse(schema), options); });
  }
  std::string edited(const std::string& file, const std::string& from, const std::string& to) const {
    std::string content = base::read_text_file(folder_.path() / "model" / file);
    const std::size_t at = content.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return content.replace(at, from.size(), to);
  }
  Error load_error() const {
    return error_of([&] { (void)ExtractPipeline::load(folder_.path() / "model"); });
  }

  base::TemporaryFolder folder_;
  const RecordedExtractor recorded_ = tests::write_tiny_extractor(folder_.path() / "model", "lstm_v2");
  const ExtractPipeline pipeline_ = ExtractPipeline::load(folder_.path() / "model");
};

TEST_F(Extract, ABatchGivesWhatEachTextGives) {
  const ExtractSchema schema = ExtractSchema::parse(recorded_.runs.back().schema);
  const Extractions all = pipeline_.extract(recorded_.texts, schema, {.threshold = 0.55F});
  for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
    const Extraction alone = pipeline_.extract({recorded_.texts[i]}, schema, {.threshold = 0.55F}).texts.front();
    expect_same_value(as_json(all.texts[i], {.confidence = true, .spans = true}),
                      as_json(alone, {.confidence = true, .spans = true}), "", recorded_.texts[i]);
  }
  EXPECT_TRUE(pipeline_.extract(std::vector<std::string>(), schema).texts.empty());
}

TEST_F(Extract, TheModelSaysWhatItIsFor) {
  EXPECT_EQ(pipelines::tasks_of(folder_.path() / "model").front(), pipelines::Task::extract);
}

TEST_F(Extract, ATextThatIsCutIsTold) {
  ExtractOptions options;
  options.long_texts = {.max_length = 64, .treatment = LongTexts::cut, .stride = std::nullopt};
  const ExtractSchema schema = ExtractSchema::parse(R"({"entities": ["person"]})");
  EXPECT_EQ(pipeline_.extract(recorded_.texts, schema, options).truncated, (std::vector<std::size_t>{3, 4, 5}));
  options.long_texts.treatment = LongTexts::error;
  EXPECT_EQ(error_of([&] { (void)pipeline_.extract(recorded_.texts, schema, options); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Extract, SchemasThatAskForNothingReadableAreRefused) {
  for (const std::string schema :
       {R"({})",
        R"([])",
        R"({"a": []})",
        R"({"a": "b"})",
        R"({"a": ["b", "b"]})",
        R"({"a": [""]})",
        R"({"": ["b"]})",
        R"({"a": [3]})",
        R"({"a": [{"dtype": "str"}]})",
        R"({"a": [{"name": "b", "typ": "str"}]})",
        R"({"a": [{"name": "b", "dtype": "int"}]})",
        R"({"a": [{"name": "b", "threshold": 2}]})",
        R"({"a": ["b::[x|x]"]})",
        R"({"a": ["b::[]"]})",
        R"({"entities": []})",
        R"({"entities": ["a", "a"]})",
        R"({"entities": {"a": 1}})",
        R"({"relations": [1]})",
        R"({"classifications": [{"task": "t"}]})",
        R"({"classifications": [{"task": "t", "labels": ["a"]}]})",
        R"({"classifications": {}})",
        R"({"classifications": [{"task": "t", "labels": ["a", "b"], "top_k": 0}]})",
        R"({"classifications": [{"task": "t", "labels": ["a", "b"]}, {"task": "t", "labels": ["a", "b"]}]})",
        R"({"t": ["x"], "classifications": [{"task": "t", "labels": ["a", "b"]}]})",
        R"({"structures": {"entities": {"fields": ["x"]}}})",
        R"({"a": ["b"], "a": ["c"]})",
        "{",
        ""}) {
    const Error error = refusal(schema);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << schema << " " << error.message();
    EXPECT_NE(error.message().find("schema"), std::string::npos) << schema << " " << error.message();
  }
  EXPECT_EQ(refusal(R"({"structures": {"a": {"fields": ["x"], "mode": "natural"}}})").code(), ErrorCode::unsupported);
  EXPECT_EQ(refusal(R"({"entities": ["a"], "entity_attributes": {}})").code(), ErrorCode::unsupported);
  EXPECT_NE(refusal(R"({"a": ["b [SEP_TEXT] c"]})").message().find("marker"), std::string::npos);
  EXPECT_NE(refusal(R"({"entities": {"a": "[P]"}})").message().find("marker"), std::string::npos);
  EXPECT_EQ(refusal(R"({"entities": ["a"]})", {.threshold = 1.5F}).code(), ErrorCode::invalid_argument);
  std::string many = R"({"entities": ["0")";
  for (int i = 1; i < 2000; ++i) many += ",\"" + std::to_string(i) + '"';
  EXPECT_NE(refusal(many + "]}").message().find("half of what is read at once"), std::string::npos);
  std::string huge = R"({"a": [1)";
  for (int i = 0; i < 200'000; ++i) huge += ",1";
  EXPECT_EQ(refusal(huge + "]}").code(), ErrorCode::invalid_argument);
}

// A hundred thousand examples among as many labels took a minute, and were then refused.
TEST_F(Extract, ASchemaThatCannotFitIsRefusedBeforeItIsRead) {
  const ExtractPipeline::State& state = pipeline_.state();
  std::vector<std::size_t> questions;
  for (const int count : {5'000, 10'000}) {
    ExtractSchema labels, examples, entities, fields;
    ExtractClassification task{.task = "tone", .labels = {"warm", "cold"}};
    for (int i = 0; i < count; ++i) task.examples.emplace_back("a text", i % 2 == 0 ? "warm" : "cold");
    examples.classifications = {task};
    task.examples.clear();
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      task.labels.push_back(name);
      task.examples.emplace_back("a text", name);
      entities.entities.push_back({.name = name, .description = "a name"});
    }
    labels.classifications = {task};
    fields.structures = {{.name = "some", .fields = {}}};
    for (const ExtractEntity& entity : entities.entities)
      fields.structures.front().fields.push_back({.name = entity.name, .choices = {}, .description = "a name"});
    std::size_t asked = 0;  // for every text that is read
    const auto counts = [&] {
      ++asked;
      return false;
    };
    for (const ExtractSchema* schema : {&labels, &examples, &entities, &fields}) {
      EXPECT_NE(error_of([&] {
                  (void)pipelines::make_schema_prompt(state, state.extractor, *schema, 512,
                                                      base::Cancellation::when(counts));
                })
                    .message()
                    .find("half of what is read at once"),
                std::string::npos);
    }
    questions.push_back(asked);
  }
  EXPECT_EQ(questions[0], questions[1]);
}

TEST_F(Extract, ReadingNumbersAsksWhetherAnybodyWaits) {
  pipelines::ExtractRun run(pipeline_, {recorded_.texts.front()},
                            ExtractSchema::parse(R"({"entities": ["person", "city"]})"), {});
  const pipelines::PreparedRows rows = run.prepare(base::Cancellation::never());
  std::size_t numbers = 0;
  for (const runtime::BatchRow& row : rows.rows) numbers += run.program()->width(row);
  const std::vector<float> values(numbers);
  const auto nobody_waits = [] { return true; };
  EXPECT_EQ(error_of([&] { run.finish(values, base::Cancellation::when(nobody_waits)); }).code(), ErrorCode::cancelled);
}

TEST_F(Extract, FieldsAreSpelledAsTheContractSays) {
  const ExtractSchema schema = ExtractSchema::parse(
      R"({"p": ["a", "b::str", "c::list::some words", "d::[x| y z ]", "e::[x]::list::why", "f::[x]::str"]})");
  const std::vector<ExtractField>& fields = schema.structures.front().fields;
  ASSERT_EQ(fields.size(), 6U);
  EXPECT_EQ(fields[0].name, "a");
  EXPECT_TRUE(fields[0].is_list && !fields[1].is_list && fields[2].is_list && !fields[3].is_list);
  EXPECT_EQ(fields[2].description, "some words");
  EXPECT_EQ(fields[3].choices, (std::vector<std::string>{"x", "y z"}));
  EXPECT_TRUE(fields[4].is_list && !fields[5].is_list);
  EXPECT_EQ(fields[4].description, "why");
}

TEST_F(Extract, PartsThatAreNotBuiltAreNamed) {
  for (const auto& [setting, name] : std::vector<std::pair<std::string, std::string>>{
           {R"("architecture": "boundary",)", "boundary"}, {R"("token_pooling": "mean",)", "token_pooling"}}) {
    folder_.write("model/config.json", "{" + setting + edited("config.json", "{", ""));
    EXPECT_EQ(load_error().code(), ErrorCode::unsupported);
    EXPECT_NE(load_error().message().find(name), std::string::npos) << load_error().message();
    tests::write_tiny_extractor(folder_.path() / "other", "lstm_v2");
    std::filesystem::copy(folder_.path() / "other/config.json", folder_.path() / "model/config.json",
                          std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove_all(folder_.path() / "other");
  }
}

TEST_F(Extract, FilesThatDoNotBelongTogetherAreTold) {
  const std::string config = base::read_text_file(folder_.path() / "model/config.json");
  for (const char* width : {"0", "-1", "4000000000", "3.5", "\"3\""}) {
    folder_.write("model/config.json",
                  edited("config.json", "\"max_width\": 3", "\"max_width\": " + std::string(width)));
    const ErrorCode code = load_error().code();
    EXPECT_TRUE(code == ErrorCode::corrupt || code == ErrorCode::invalid_argument) << width;
    folder_.write("model/config.json", config);
  }
  folder_.write("model/tokenizer.json", edited("tokenizer.json", "[SEP_STRUCT]", "[SEP_OTHER]"));
  EXPECT_EQ(load_error().code(), ErrorCode::corrupt);
  std::filesystem::remove(folder_.path() / "model/encoder_config/config.json");
  EXPECT_EQ(load_error().code(), ErrorCode::not_found);
}

TEST(ExtractionWords, AreThoseOfThePackage) {
  const Json recorded =
      formats::parse_json(base::read_text_file(source_folder() / "tests/golden/extractors/words.json"), "words.json");
  for (const Json& each : recorded.as_array("texts")) {
    const std::string& text = each.as_array("text")[0].as_string("text");
    std::vector<std::pair<std::int64_t, std::int64_t>> wanted, found;
    for (const Json& word : each.as_array("text")[1].as_array("words"))
      wanted.emplace_back(word.as_array("word")[0].as_int("start"), word.as_array("word")[1].as_int("end"));
    for (const pipelines::TextWord& word : pipelines::split_extraction_words(text))
      found.emplace_back(word.begin, word.end);
    EXPECT_EQ(found, wanted) << formats::to_json_text(each);
  }
}

TEST(ExtractionWords, TakeTimeInProportionToTheText) {
  for (const std::string piece : {"a.", "a-", "@a.b", "x@", "%+", "www.", "https://"}) {
    std::string text;
    while (text.size() < 300'000) text += piece;
    EXPECT_FALSE(pipelines::split_extraction_words(text).empty()) << piece;
  }
}

}  // namespace
}  // namespace alate
