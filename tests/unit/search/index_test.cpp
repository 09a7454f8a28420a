// Indexes: what is found, what is kept, what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_precision.h"
#include "alate/error.h"
#include "alate/search.h"
#include "base/files/mapped_file.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"
#include "search/index_file.h"
#include "search/index_writer.h"
#include "search/matches.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::search {
namespace {

namespace fs = std::filesystem;

class Index : public testing::Test {
 protected:
  Index() {
    texts_.write("a.txt", "The cat sat on the mat.\n\nThe quick brown fox jumped.\n");
    texts_.write("sub/b.md", "# Fox\nA fox, a fox: 1 2 3!\n");
    texts_.write("c.jsonl", "{\"text\": \"query passage\"}\n\n{\"text\": \"the mat\", \"id\": 3}\n");
    texts_.write("sub/left.out", "\xff");
    texts_.write(".hidden.txt", "hidden");
  }
  static EmbeddingPipeline load(const std::string& name) {
    return EmbeddingPipeline::load(source_folder() / "tests/golden/models" / name);
  }
  IndexReport build(const fs::path& folder, const IndexOptions& more = {}) const {
    IndexOptions options = more;
    options.chunk.target_tokens = 8;
    options.chunk.overlap_tokens = 0;
    options.model = "tiny";
    return build_index(pipeline_, {texts_.path()}, folder, options);
  }
  static std::string bytes_of(const fs::path& folder) {
    std::ifstream file(folder / kIndexFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<SearchResult> ask(const std::string& question, const SearchOptions& options = {}) const {
    return SearchIndex::open(out()).search(pipeline_, question, options);
  }
  fs::path out() const { return folder_.path() / "index"; }

  base::TemporaryFolder texts_, folder_;
  const EmbeddingPipeline pipeline_ = load("st_mean");
};

TEST_F(Index, FindsThePassageThatIsTheQuestion) {
  const IndexReport report = build(out());
  EXPECT_EQ(report.files, 3U);
  EXPECT_EQ(report.embedded_files, 3U);
  const SearchIndex index = SearchIndex::open(out());
  EXPECT_EQ(index.size(), report.chunks);
  EXPECT_EQ(index.model(), "tiny");
  const std::vector<SearchResult> found = ask("The quick brown fox jumped.", {.top = 2});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].score, 1, 1e-5);
  EXPECT_LE(found[1].score, found[0].score);
  EXPECT_EQ(found[0].text, "The quick brown fox jumped.");
  EXPECT_TRUE(found[0].file.ends_with("a.txt"));
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[0].start, 25U);
  EXPECT_EQ(found[0].byte_end, 52U);
  const std::vector<std::pair<std::size_t, std::size_t>> spans = {{25, 28}, {29, 34}, {35, 40}, {41, 44}, {45, 51}};
  EXPECT_EQ(found[0].spans, spans);
}

TEST_F(Index, OfAModelWithRoutesIsOfDocumentsAndAskedByQueries) {
  const fs::path model = folder_.path() / "model";
  tests::write_tiny_model(tests::golden_folder("modules/router_of_transformers"), model);
  const auto edit = [&](const std::string& from, const std::string& to) {
    std::string text = base::read_text_file(model / "router_config.json");
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(model / "router_config.json") << text;
  };
  edit(R"("default_route": "document")", R"("default_route": null)");
  edit(R"("allow_empty_key": true)", R"("allow_empty_key": false)");
  const auto build_again = [&] {
    IndexOptions options;
    options.chunk.method = ChunkMethod::semantic;
    return build_index(EmbeddingPipeline::load(model), {texts_.path()}, out(), options).embedded_files;
  };
  EXPECT_EQ(build_again(), 3U);
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(model);
  const Embeddings asked = pipeline.embed("cat?", {.normalize = true, .task = "query"});
  for (const SearchResult& result : SearchIndex::open(out()).search(pipeline, "cat?", {.top = 100})) {
    const Embeddings passage = pipeline.embed(result.text, {.normalize = true, .task = "document"});
    double cosine = 0;
    for (std::size_t i = 0; i < pipeline.dimensions(); ++i)
      cosine += double{asked.vectors.values<float>()[i]} * double{passage.vectors.values<float>()[i]};
    EXPECT_NEAR(result.score, cosine, 1e-5) << result.text;
  }
  EXPECT_EQ(build_again(), 0U);
  // The tokenizer of a route decides what its vectors are.
  std::string vocabulary = base::read_text_file(model / "document_0_Transformer/vocab.txt");
  std::ofstream(model / "document_0_Transformer/vocab.txt") << vocabulary.replace(vocabulary.find("cat"), 3, "dog");
  EXPECT_EQ(build_again(), 3U);
}

TEST_F(Index, ScoresAreCosinesOfEmbeddings) {
  build(out());
  const std::vector<SearchResult> found = ask("cat?", {.top = 100});
  const Embeddings asked = pipeline_.embed("cat?", {.normalize = true});
  for (const SearchResult& result : found) {
    const Embeddings passage = pipeline_.embed(result.text, {.normalize = true});
    double cosine = 0;
    for (std::size_t i = 0; i < pipeline_.dimensions(); ++i)
      cosine += double{asked.vectors.values<float>()[i]} * double{passage.vectors.values<float>()[i]};
    EXPECT_NEAR(result.score, cosine, 1e-5) << result.text;
  }
  EXPECT_EQ(found.size(), SearchIndex::open(out()).size());
  EXPECT_TRUE(std::ranges::is_sorted(found, std::ranges::greater(), &SearchResult::score));
}

TEST_F(Index, LinesOfJsonAreTextsWithTheirLine) {
  build(out());
  const SearchResult found = ask("the mat", {.top = 1}).front();
  EXPECT_EQ(found.text, "the mat");
  EXPECT_TRUE(found.file.ends_with("c.jsonl"));
  EXPECT_EQ(found.line, 3U);
  EXPECT_EQ(found.start, 0U);
}

TEST_F(Index, OnlyChangedFilesAreEmbeddedAgainAndBytesAreThoseOfANewIndex) {
  build(out());
  const std::string first = bytes_of(out());
  EXPECT_EQ(build(out()).embedded_files, 0U);
  EXPECT_EQ(bytes_of(out()), first);
  texts_.write("sub/b.md", "Other words.");
  fs::remove(texts_.path() / "c.jsonl");
  EXPECT_EQ(build(out()).embedded_files, 1U);
  build(folder_.path() / "fresh");
  EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "fresh"));
  EXPECT_NE(bytes_of(out()), first);
}

TEST_F(Index, AnInterruptedJobGoesOnAndGivesTheSameBytes) {
  build(folder_.path() / "fresh");
  // Stops behind the first file, whose part is on disk once it is large enough: a file of many passages.
  std::string many;
  for (int i = 0; i < 2100; ++i) many += "the quick brown fox jumped on the mat.\n\n";
  texts_.write("aa.txt", many);
  build(folder_.path() / "whole");
  IndexOptions options;
  options.progress = [](std::string_view, std::size_t done, std::size_t) {
    if (done == 2) throw Error(ErrorCode::cancelled, "stopped");
  };
  EXPECT_EQ(base::error_of([&] { build(out(), options); }).code(), ErrorCode::cancelled);
  EXPECT_FALSE(fs::exists(out() / kIndexFile));
  const IndexReport resumed = build(out());
  EXPECT_EQ(resumed.embedded_files, 3U);  // of four: one is kept whole, and another but for its end
  EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "whole"));
  EXPECT_FALSE(fs::exists(out() / "parts"));
}

TEST_F(Index, AnInterruptedJobGoesOnInTheMiddleOfAFile) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "{\"text\": \"the fox " + std::to_string(i) + "\"}\n";
  texts_.write("aa.jsonl", many);
  const IndexReport whole = build(folder_.path() / "whole");
  IndexOptions options;
  options.progress = [](std::string_view, std::size_t done, std::size_t) {
    if (done == 2) throw Error(ErrorCode::cancelled, "stopped");
  };
  EXPECT_EQ(base::error_of([&] { build(out(), options); }).code(), ErrorCode::cancelled);
  const IndexReport resumed = build(out());
  EXPECT_EQ(resumed.embedded_files, 3U);        // all but a.txt
  EXPECT_LT(resumed.tokens, whole.tokens / 2);  // two parts of the large file were kept
  EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "whole"));
}

TEST_F(Index, PartsThatDoNotFitEachOtherAreLeftOut) {
  // A part with the end of a file whose beginning is nowhere.
  build(folder_.path() / "whole");
  const IndexFile whole(folder_.path() / "whole" / kIndexFile);
  Passages end;
  end.files = {whole.files()[0]};
  end.files[0].first = 1;
  end.files[0].passages = 1;
  end.places = {whole.place(1)};
  end.texts = {"another text"};
  end.vectors.assign(whole.dimensions(), 1);
  fs::create_directories(out() / "parts");
  write_index_file(out() / "parts/00000000.safetensors", {.origin = whole.origin()}, end);
  EXPECT_EQ(build(out()).embedded_files, 3U);
  EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "whole"));
}

TEST_F(Index, OfFewerBitsFindsTheSame) {
  build(out());
  const std::vector<SearchResult> exact = ask("the quick fox", {.top = 100});
  for (const Precision precision : {Precision::int8, Precision::binary}) {
    const fs::path folder = folder_.path() / std::string(to_string(precision));
    EXPECT_EQ(build(folder, {.precision = precision}).embedded_files, 3U);
    const SearchIndex index = SearchIndex::open(folder);
    EXPECT_EQ(index.precision(), precision);
    const std::vector<SearchResult> found = index.search(pipeline_, "the quick fox", {.top = 100});
    ASSERT_EQ(found.size(), exact.size());
    for (const SearchResult& result : found) {
      const auto same = std::ranges::find(exact, result.id, &SearchResult::id);
      ASSERT_NE(same, exact.end());
      EXPECT_NEAR(result.score, same->score, 0.004) << to_string(precision);
      EXPECT_EQ(result.text, same->text);
    }
    EXPECT_TRUE(std::ranges::is_sorted(found, std::ranges::greater(), &SearchResult::score));
    EXPECT_EQ(build(folder, {.precision = precision}).embedded_files, 0U);
  }
  const Error error = base::error_of([&] { build(folder_.path() / "other", {.precision = Precision::uint8}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
}

TEST_F(Index, OfFloatsBecomesOneOfFewerBitsWithoutTheModel) {
  for (const Precision precision : {Precision::int8, Precision::binary}) {
    build(out());
    EXPECT_EQ(build(out(), {.precision = precision}).embedded_files, 0U);
    build(folder_.path() / "fresh", {.precision = precision});
    EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "fresh"));
    // The numbers that were rounded are not there any more.
    EXPECT_EQ(build(out()).embedded_files, 3U);
    fs::remove_all(out());
    fs::remove_all(folder_.path() / "fresh");
  }
}

TEST_F(Index, AnotherModelIsRefusedAndMakesTheIndexAnew) {
  build(out());
  const EmbeddingPipeline other = load("st_max");
  const Error error = base::error_of([&] { (void)SearchIndex::open(out()).search(other, "cat"); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("\"tiny\""), std::string::npos);
  EXPECT_EQ(build_index(other, {texts_.path()}, out()).embedded_files, 3U);
  // Another way to cut does not matter to a search, but all is cut anew.
  EXPECT_EQ(build_index(other, {texts_.path()}, out(), {.chunk = {.target_tokens = 5}}).embedded_files, 3U);
  EXPECT_FALSE(SearchIndex::open(out()).search(other, "cat").empty());
}

TEST_F(Index, AModelWhoseFileLeadsOutOfItsFolderIsNotRead) {
  const fs::path model = folder_.path() / "model";
  fs::copy(source_folder() / "tests/golden/models/st_mean", model, fs::copy_options::recursive);
  folder_.write("outside", "another's file");
  fs::create_symlink("../outside", model / "merges.txt");  // which its tokenizer does not need
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(model);
  const Error error = base::error_of([&] { (void)build_index(pipeline, {texts_.path()}, out(), {}); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("leads out of the model's folder"), std::string::npos) << error.message();
}

TEST_F(Index, FilesThatCannotBeIndexedAreRefused) {
  const auto refusal = [&](const std::string& name) {
    return base::error_of([&] { (void)build_index(pipeline_, {texts_.path() / name}, out()); });
  };
  EXPECT_EQ(refusal("missing").code(), ErrorCode::not_found);
  EXPECT_EQ(refusal("sub/left.out").code(), ErrorCode::invalid_argument);
  texts_.write("bad.txt", "a\xff");
  EXPECT_NE(refusal("bad.txt").message().find("UTF-8"), std::string::npos);
  texts_.write("bad.jsonl", "{\"text\": \"a\"}\n{\"title\": 1}\n");
  EXPECT_NE(refusal("bad.jsonl").message().find("line 2"), std::string::npos);
  texts_.write("empty/x.txt", " \n");
  EXPECT_EQ(refusal("empty").code(), ErrorCode::invalid_argument);
  EXPECT_NE(refusal("bad.txt").message().find("bad.txt"), std::string::npos);
  EXPECT_NE(refusal("bad.txt").message().find("--on-error skip"), std::string::npos);
}

TEST_F(Index, FilesThatCannotBeReadAreSkippedWhereThatIsAskedFor) {
  const std::size_t good = build(out()).chunks;
  texts_.write("bad.txt", "a\xff");
  texts_.write("bad.jsonl", "{\"text\": \"a fox\"}\n{\"title\": 1}\n\xff\n");
  texts_.write("bad.html", "<meta charset=iso-2022-kr><p>a\xff");  // an encoding that browsers do not read any more
  EXPECT_EQ(base::error_of([&] { build(out()); }).code(), ErrorCode::unsupported);  // bad.html is the first
  const IndexReport report = build(out(), {.skip_unreadable = true});
  EXPECT_EQ(report.files, 4U);
  EXPECT_EQ(report.chunks, good + 1);
  EXPECT_EQ(report.skipped_files, 2U);
  EXPECT_EQ(report.skipped_lines, 2U);
  EXPECT_EQ(build(out(), {.skip_unreadable = true}).embedded_files, 0U);
  // Named ones of other kinds too, but not paths where nothing is.
  const auto build_of = [&](const std::string& name) {
    return build_index(pipeline_, {texts_.path() / "a.txt", texts_.path() / name}, folder_.path() / "few",
                       {.skip_unreadable = true});
  };
  EXPECT_EQ(build_of("sub/left.out").skipped_files, 1U);
  EXPECT_EQ(base::error_of([&] { build_of("missing"); }).code(), ErrorCode::not_found);
  const Error error = base::error_of(
      [&] { build_index(pipeline_, {texts_.path() / "bad.txt"}, folder_.path() / "none", {.skip_unreadable = true}); });
  EXPECT_NE(error.message().find("all files or lines were skipped"), std::string::npos);
}

TEST_F(Index, TextsAreReadInTheEncodingThatTheyState) {
  const std::string wide = {'t', 0, 'h', 0, 'e', 0, ' ', 0, 'f', 0, 'o', 0, 'x', 0, '\r', 0, '\n', 0};
  texts_.write("e/notepad.txt", "\xff\xfe" + wide);
  texts_.write("e/marked.md", "\xef\xbb\xbfthe cat");
  texts_.write("e/old.html", "<meta charset=windows-1252><p>\x93the mat\x94 caf\xe9</p>");
  build_index(pipeline_, {texts_.path() / "e"}, out());
  const auto text_for = [&](const std::string& question) { return ask(question, {.top = 1}).front().text; };
  EXPECT_EQ(text_for("the fox"), "the fox");
  EXPECT_EQ(text_for("the cat"), "the cat");
  EXPECT_EQ(text_for("\u201cthe mat\u201d caf\u00e9"), "\u201cthe mat\u201d caf\u00e9");
}

// Writes the index with one tensor or entry of its metadata changed.
class BrokenIndex : public Index {
 protected:
  using Metadata = std::map<std::string, std::string>;
  using Tensors = std::vector<formats::NamedTensor>;

  Error error_with(const std::function<void(Tensors&, Metadata&)>& edit, Precision precision = Precision::float32) {
    change(edit, precision);
    return base::error_of([&] { (void)SearchIndex::open(out()); });
  }
  void change(const std::function<void(Tensors&, Metadata&)>& edit, Precision precision) {
    build(out(), {.precision = precision});
    const fs::path path = out() / kIndexFile;
    Tensors tensors;
    Metadata metadata;
    {
      const auto file = formats::SafetensorsFile::open(path, base::MappedFile::Mode::read);
      for (const std::string_view name : file->names()) tensors.push_back({std::string(name), file->tensor(name)});
      metadata = file->metadata();
    }
    edit(tensors, metadata);
    formats::write_safetensors(path, tensors, metadata);
  }
  static Tensor& named(Tensors& tensors, const std::string& name) {
    return std::ranges::find(tensors, name, &formats::NamedTensor::name)->tensor;
  }
  // A copy of a tensor of numbers with one changed.
  static void set(Tensors& tensors, const std::string& name, std::size_t at, std::int64_t value) {
    Tensor& tensor = named(tensors, name);
    const auto old = tensor.values<std::int64_t>();
    std::vector<std::int64_t> numbers(old.begin(), old.end());
    numbers[at] = value;
    std::vector<std::int64_t> extents;
    for (std::size_t i = 0; i < tensor.shape().dims.size(); ++i) extents.push_back(tensor.extent(i));
    tensor = Tensor::from<std::int64_t>(extents, std::span<const std::int64_t>(numbers));
  }
};

TEST_F(BrokenIndex, IsRefused) {
  const auto corrupt = [&](const std::function<void(Tensors&, Metadata&)>& edit) {
    EXPECT_EQ(error_with(edit).code(), ErrorCode::corrupt);
  };
  corrupt([](Tensors& tensors, Metadata&) { set(tensors, "places", 0, 1); });
  corrupt([](Tensors& tensors, Metadata&) { set(tensors, "places", 1, -1); });
  corrupt([](Tensors& tensors, Metadata&) { set(tensors, "places", 5, 0); });
  corrupt([](Tensors& tensors, Metadata&) { set(tensors, "text_ends", 0, 1000000); });
  corrupt([](Tensors& tensors, Metadata&) { set(tensors, "text_ends", 1, 1); });
  corrupt([](Tensors& tensors, Metadata&) { named(tensors, "vectors") = Tensor::zeros({DType::f32, {1, 16}}); });
  corrupt([](Tensors& tensors, Metadata&) { named(tensors, "vectors") = Tensor::zeros({DType::i32, {5, 16}}); });
  corrupt([](Tensors& tensors, Metadata&) { tensors.pop_back(); });
  corrupt([](Tensors&, Metadata& metadata) { metadata["files"] = "[]"; });
  corrupt([](Tensors&, Metadata& metadata) { metadata["files"] = R"([{"name": "a", "passages": 99999999}])"; });
  corrupt([](Tensors&, Metadata& metadata) { metadata["files"] = "{"; });
  corrupt([](Tensors&, Metadata& metadata) { metadata.erase("identity"); });
  EXPECT_EQ(error_with([](Tensors&, Metadata& metadata) { metadata["alate_index"] = "3"; }).code(),
            ErrorCode::unsupported);
  EXPECT_EQ(base::error_of([&] { (void)SearchIndex::open(folder_.path() / "none"); }).code(), ErrorCode::not_found);
}

TEST_F(BrokenIndex, OfFewerBitsIsRefused) {
  const auto corrupt = [&](Precision precision, const std::function<void(Tensors&, Metadata&)>& edit) {
    EXPECT_EQ(error_with(edit, precision).code(), ErrorCode::corrupt);
  };
  const auto shape = [](Tensors& tensors, const std::string& name, Shape changed) {
    named(tensors, name) = Tensor::zeros(changed);
  };
  build(out());
  const auto rows = static_cast<std::int64_t>(SearchIndex::open(out()).size());
  const auto width = static_cast<std::int64_t>(pipeline_.dimensions());
  for (const Precision precision : {Precision::int8, Precision::binary}) {
    corrupt(precision, [&](Tensors& tensors, Metadata&) { shape(tensors, "scales", {DType::f32, {rows - 1}}); });
    corrupt(precision, [&](Tensors& tensors, Metadata&) { shape(tensors, "scales", {DType::i32, {rows}}); });
    corrupt(precision,
            [&](Tensors& tensors, Metadata&) { std::erase_if(tensors, [](auto& t) { return t.name == "scales"; }); });
    corrupt(precision, [&](Tensors& tensors, Metadata&) { shape(tensors, "vectors", {DType::u8, {rows, width}}); });
    corrupt(precision, [&](Tensors& tensors, Metadata&) { shape(tensors, "vectors", {DType::i8, {rows - 1, width}}); });
    corrupt(precision, [&](Tensors& tensors, Metadata&) { shape(tensors, "vectors", {DType::i8, {rows, 0}}); });
  }
  corrupt(Precision::binary, [&](Tensors& tensors, Metadata&) { shape(tensors, "bits", {DType::u8, {rows - 1, 8}}); });
  corrupt(Precision::binary, [&](Tensors& tensors, Metadata&) { shape(tensors, "bits", {DType::u8, {rows, 7}}); });
  corrupt(Precision::binary, [&](Tensors& tensors, Metadata&) { shape(tensors, "bits", {DType::i8, {rows, 8}}); });
}

// Format 1 is what format 2 is of float32.
TEST_F(BrokenIndex, OfTheFirstFormatIsReadAndItsVectorsAreKept) {
  change([](Tensors&, Metadata& metadata) { metadata["alate_index"] = "1"; }, Precision::float32);
  EXPECT_EQ(ask("The quick brown fox jumped.", {.top = 1}).front().text, "The quick brown fox jumped.");
  EXPECT_EQ(build(out()).embedded_files, 0U);
  build(folder_.path() / "fresh");
  EXPECT_EQ(bytes_of(out()), bytes_of(folder_.path() / "fresh"));
}

TEST_F(Index, OfPagesWhatAReaderSeesIsIndexed) {
  texts_.write("page/p.html",
               "<html><head><style>a{}</style></head>\n<body><h2>Fox</h2>\n<p>the quick\nbrown fox</p></body>");
  build_index(pipeline_, {texts_.path() / "page"}, out(), {.chunk = {.target_tokens = 4, .overlap_tokens = 0}});
  const SearchResult found = ask("the quick brown fox", {.top = 1}).front();
  EXPECT_EQ(found.text, "the quick brown fox");
  EXPECT_EQ(found.line, 3U);
}

TEST(QuestionWords, AreFoundWithoutRegardToCaseButNotShortOnes) {
  const QuestionWords words("Is THE Caf\u00e9 \u732b?");
  const std::vector<std::pair<std::size_t, std::size_t>> found = {{0, 3}, {8, 12}, {13, 14}};
  EXPECT_EQ(words.in("the is: caf\u00c9 \u732b cafes"), found);
}

TEST(QuestionWords, AreFoundInComposedAndOtherLetters) {
  const std::vector<std::pair<std::size_t, std::size_t>> composed = {{0, 4}}, other = {{0, 5}};
  for (const std::string question : {"caf\u00e9", "cafe\u0301", "CAFE\u0301"}) {
    EXPECT_EQ(QuestionWords(question).in("Caf\u00e9 x"), composed);
    EXPECT_EQ(QuestionWords(question).in("Cafe\u0301 x"), other);
    EXPECT_TRUE(QuestionWords(question).in("cafe").empty());
  }
  // Marks are no letters of their own; nor are characters taken apart.
  EXPECT_TRUE(QuestionWords("n\u00e9").in("n\u00e9 ne\u0301").empty());
  EXPECT_TRUE(QuestionWords("ne\u0301").in("n\u00e9 ne\u0301").empty());
  const std::vector<std::pair<std::size_t, std::size_t>> kana = {{0, 2}};
  EXPECT_EQ(QuestionWords("\u304c").in("\u304b\u3099"), kana);
  EXPECT_TRUE(QuestionWords("\u304b").in("\u304b\u3099").empty());
}

TEST(QuestionWords, ThatEveryThirdPassageHasAreDropped) {
  std::vector<std::string_view> passages(20, "nothing of it");
  for (std::size_t i = 0; i < 7; ++i) passages[i] = "The fox, the fox";
  passages[0] = "The crow and the fox";
  QuestionWords words("the crow");
  const std::vector<std::pair<std::size_t, std::size_t>> both = {{0, 3}, {4, 8}}, one = {{4, 8}};
  words.drop_common(std::span(passages).first(19));
  EXPECT_EQ(words.in("the crow"), both);  // too few to tell
  words.drop_common(passages);
  EXPECT_EQ(words.in("the crow"), one);
  EXPECT_TRUE(words.in("the fox").empty());
}

}  // namespace
}  // namespace alate::search
