// builtin:pii gives words the labels that ONNX Runtime gives them on the published file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "alate/model.h"
#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/sanitizers.h"
#include "tests/source_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using formats::Json;

const fs::path kFolder = source_folder() / "models/pii";
constexpr std::size_t kStep = tests::one_case_of(10);

struct LabelledText {
  std::string text;
  std::map<std::size_t, std::string> labels;  // of words, by number; others are O
};

// Recorded by tests/golden/record_pii.py.
std::vector<LabelledText> labelled_texts() {
  const std::string lines = base::read_text_file(source_folder() / "tests/golden/pii.jsonl");
  std::vector<LabelledText> texts;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const Json line = formats::parse_json(lines.substr(at, end - at), "pii.jsonl");
    LabelledText made{.text = line.get_string("text", ""), .labels = {}};
    for (const auto& [word, label] : line.find("labels")->as_object("labels"))
      made.labels.emplace(std::stoul(word), label.as_string(word));
    texts.push_back(std::move(made));
    at = end + 1;
  }
  return texts;
}

// The labels of words, each that of its first token.
std::vector<std::string> found_labels(const Model& model, const Tokenizer& tokenizer, const Json& names,
                                      const std::string& text) {
  const Encoding encoding = tokenizer.encode(text);
  const auto length = static_cast<std::int64_t>(encoding.ids.size());
  const NamedTensors outputs =
      model.forward({{"input_ids", Tensor::from<std::int32_t>({1, length}, std::span(encoding.ids))}});
  const std::span<const float> logits = outputs.at("logits").values<float>();
  const std::size_t labels = logits.size() / encoding.ids.size();
  std::vector<std::string> found;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto [begin, end] = encoding.byte_offsets[i];
    if (begin == end || (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\n')) continue;
    const std::span<const float> row = logits.subspan(i * labels, labels);
    const auto best = std::ranges::max_element(row) - row.begin();
    found.push_back(names.get_string(std::to_string(best), ""));
  }
  return found;
}

struct Agreement {
  std::size_t words = 0, labelled = 0, equal = 0;
};

Agreement agreement_of(ComputeType dtype) {
  const Model model = Model::load(kFolder, {.dtype = dtype});
  const Tokenizer tokenizer = Tokenizer::load(kFolder);
  const Json config = formats::parse_json(base::read_text_file(kFolder / "config.json"), "config.json");
  Agreement total;
  const std::vector<LabelledText> texts = labelled_texts();
  for (std::size_t i = 0; i < texts.size(); i += kStep) {
    const LabelledText& wanted = texts[i];
    const std::vector<std::string> found = found_labels(model, tokenizer, *config.find("id2label"), wanted.text);
    for (std::size_t word = 0; word < found.size(); ++word) {
      const auto label = wanted.labels.find(word);
      ++total.words;
      total.labelled += label == wanted.labels.end() ? 0 : 1;
      total.equal += found[word] == (label == wanted.labels.end() ? "O" : label->second) ? 1 : 0;
    }
  }
  return total;
}

TEST(BuiltinRecognizer, LabelsWordsAsThePublishedFile) {
  const Agreement found = agreement_of(ComputeType::as_stored);
  ASSERT_GT(found.words, 2500U / kStep);
  ASSERT_GT(found.labelled, 700U / kStep);
  EXPECT_GE(static_cast<double>(found.equal), 0.995 * static_cast<double>(found.words))
      << found.equal << " of " << found.words;
}

TEST(BuiltinRecognizer, LosesNothingInFloats) {
  const Agreement found = agreement_of(ComputeType::float32);
  EXPECT_EQ(found.equal, found.words);
}

}  // namespace
}  // namespace alate
