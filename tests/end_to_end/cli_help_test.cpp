// Help: the overview, each verb's own, manual pages; which options a verb takes; short options.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

constexpr std::size_t kWidth = 100;

std::string good_help(const std::vector<std::string>& arguments, const ProgramSetting& setting = {}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return run.out;
}

// The commands of the overview, in its order.
std::vector<std::string> listed_verbs() {
  std::vector<std::string> verbs;
  bool is_past_usage = false;
  for (const std::string& line : lines_of(good_help({}))) {
    is_past_usage = is_past_usage || line.starts_with("Usage:");
    if (is_past_usage && line.starts_with("  ") && line[2] != ' ')
      verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (is_past_usage && !verbs.empty() && line.empty()) break;
  }
  return verbs;
}

TEST(CliHelp, OverviewListsEveryVerbAndEndsWithExitCodes) {
  const std::string overview = good_help({});
  EXPECT_EQ(good_help({"help"}), overview);
  EXPECT_EQ(good_help({"--help"}), overview);
  EXPECT_EQ(good_help({"-h"}), overview);
  for (const std::string verb : {"serve", "ps", "demo", "embed", "tokenize", "forward", "bench", "compare", "estimate",
                                 "quantize", "backends", "doctor", "completion", "version", "help"})
    EXPECT_EQ(std::ranges::count(listed_verbs(), verb), 1) << verb;
  for (const std::string hidden : {"__probe", "__complete", "__man"})
    EXPECT_EQ(overview.find(hidden), std::string::npos);
  const std::size_t exits = overview.find("\nExit codes:\n");
  ASSERT_NE(exits, std::string::npos) << overview;
  for (const std::string code : {"0", "1", "2", "3", "4", "5", "6", "7", "130"})
    EXPECT_NE(overview.find("\n  " + code + " ", exits), std::string::npos) << code;
  EXPECT_TRUE(overview.ends_with("interrupted\n"));
  EXPECT_NE(overview.find("builtin:minilm"), std::string::npos);
}

TEST(CliHelp, EveryVerbShowsItsOptionsAndAnExample) {
  const std::vector<std::string> verbs = listed_verbs();
  EXPECT_GE(verbs.size(), 13u);
  for (const std::string& verb : verbs) {
    SCOPED_TRACE(verb);
    const std::string help = good_help({verb, "--help"});
    EXPECT_NE(help.find("\nExample:\n  "), std::string::npos) << help;
    EXPECT_NE(help.find("\n  alate " + verb), std::string::npos) << help;
    EXPECT_EQ(good_help({"help", verb}), help);
    EXPECT_EQ(good_help({verb, "-h"}), help);
    EXPECT_TRUE(help.ends_with("\nExit codes: 0 is success; `alate help` lists the others.\n")) << help;
  }
}

TEST(CliHelp, IsWrappedWithSentencesInAColumn) {
  std::vector<std::vector<std::string>> all = {{"help"}};
  for (const std::string& verb : listed_verbs()) all.push_back({"help", verb});
  for (const auto& arguments : all) {
    for (const std::string& line : lines_of(good_help(arguments))) {
      EXPECT_LE(line.size(), kWidth) << line;
      if (line.starts_with("  -") && line.find("  ", 4) != std::string::npos) {
        EXPECT_EQ(line.find_first_not_of(' ', line.find("  ", 4)), 32u) << line;
      }
    }
  }
  const std::string wrapped = good_help({"help", "forward"});
  EXPECT_NE(wrapped.find("\n" + std::string(32, ' ')), std::string::npos) << wrapped;
}

TEST(CliHelp, ShowsOnlyOptionsThatTheVerbUses) {
  const std::map<std::string, std::vector<std::string>> absent = {
      {"tokenize", {"--backend", "--dtype", "--batch-size", "--no-mmap", "--dump-graph"}},
      {"version", {"--models-dir", "--threads", "--backend", "--max-length", "--batch-size"}},
      {"forward", {"--max-length", "--batch-size"}},
      {"bench", {"--max-length"}},
      {"compare", {"--policy"}},
      {"demo", {"--output", "--max-length", "--batch-size"}},
      {"estimate", {"--policy", "--gpu", "--threads", "--no-mmap"}},
      {"quantize", {"--backend", "--dtype", "--max-length"}},
      {"doctor", {"--max-length", "--batch-size", "--dump-graph"}},
      {"backends", {"--models-dir", "--backend", "--threads"}},
      {"help", {"--output", "--out", "--config"}}};
  for (const auto& [verb, options] : absent) {
    const std::string help = good_help({"help", verb});
    for (const std::string& option : options) {
      SCOPED_TRACE(verb + " " + option);
      EXPECT_EQ(help.find("\n  " + option + " "), std::string::npos);
      const ProgramRun run = run_program({verb, option});
      EXPECT_EQ(run.exit_code, 2);
      EXPECT_NE(run.error.find("there is no option \"" + option + "\""), std::string::npos) << run.error;
    }
  }
  const std::string embed = good_help({"help", "embed"});
  for (const std::string option : {"--backend NAME", "--policy POLICY", "--threads N", "--max-length TOKENS",
                                   "--batch-size TEXTS", "--models-dir DIR", "--dtype TYPE", "--log-level LEVEL"})
    EXPECT_NE(embed.find("\n  " + option), std::string::npos) << option;
}

TEST(CliHelp, ARefusedOptionNamesTheNearestOneOrTheVerbsThatTakeIt) {
  const std::string tiny = tiny_model("st_mean").string();
  EXPECT_NE(run_program({"compare", tiny, "--backend", "cpu"}).error.find("did you mean --backends?"),
            std::string::npos);
  const std::string error = run_program({"tokenize", tiny, "--batch-size", "2"}).error;
  EXPECT_NE(error.find("embed"), std::string::npos) << error;
  EXPECT_EQ(error.find("version"), std::string::npos) << error;
}

TEST(CliHelp, EachFormatOfAVerbIsNamed) {
  const std::string bench = good_help({"help", "bench"}), tokenize = good_help({"help", "tokenize"});
  EXPECT_NE(bench.find("text (or table), markdown, csv, json\n"), std::string::npos) << bench;
  EXPECT_EQ(tokenize.find("csv"), std::string::npos) << tokenize;
}

// The help without line breaks.
std::string flowing_help(const std::string& verb) {
  std::string text;
  for (const std::string& line : lines_of(good_help({"help", verb})))
    text += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + " ";
  return text;
}

TEST(CliHelp, OptionsWithFewValuesListThem) {
  const std::vector<std::pair<std::string, std::string>> options = {
      {"recognize", "--aggregation"}, {"redact", "--aggregation"},  {"chunk", "--method"},
      {"index", "--method"},          {"index", "--precision"},     {"search", "--mode"},
      {"embed", "--precision"},       {"embed", "--long"},          {"embed", "--on-error"},
      {"embed", "--policy"},          {"embed", "--gpu"},           {"embed", "--backend"},
      {"embed", "--log-style"},       {"tokenize", "--truncation"}, {"tokenize", "--padding-side"},
      {"embed", "--input"},           {"embed", "--invalid-utf8"},  {"serve", "--policy"}};
  for (const auto& [verb, option] : options) {
    SCOPED_TRACE(verb + " " + option);
    std::vector<std::string> values = lines_of(good_help({"__complete", "bash", "--", verb, option, ""}));
    values.erase(values.begin());  // what the shell may complete besides
    EXPECT_GE(values.size(), 2U);
    const std::string help = flowing_help(verb);
    const std::size_t place = help.find(option + " ");
    ASSERT_NE(place, std::string::npos);
    const std::string sentence = help.substr(place, help.find(" --", place + option.size()) - place);
    for (const std::string& value : values)
      EXPECT_NE(sentence.find(value.substr(0, value.find_last_not_of(' ') + 1)), std::string::npos)
          << value << " is not in " << sentence;
    if (option == "--backend") continue;
    const ProgramRun refused = verb == "search" ? run_program({verb, "DIR", "a question", option, "nothing"})
                                                : run_program({verb, "x", option, "nothing"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.error.find("one of " + values.front()), std::string::npos) << refused.error;
  }
}

TEST(CliHelp, VariablesAndKeysOfOtherVerbsAreIgnored) {
  const std::string tiny = tiny_model("st_mean").string();
  const std::string wanted = good_help({"tokenize", tiny, "the cat"});
  EXPECT_EQ(good_help({"tokenize", tiny, "the cat"}, {.environment = {{"ALATE_BACKEND", "cuda"},
                                                                      {"ALATE_POLICY", "strict"},
                                                                      {"ALATE_DTYPE", "any"},
                                                                      {"ALATE_BATCH_SIZE", "8"}}}),
            wanted);
  const TemporaryFolder folder;
  const std::string file = folder.write("alate.yaml", "threads: 2\nbatch_size: 4\nport: 4711\n").string();
  EXPECT_EQ(good_help({"tokenize", tiny, "the cat", "--config", file}), wanted);
}

TEST(CliHelp, ShortOptions) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "tokens.txt").string(), tiny = tiny_model("st_mean").string();
  EXPECT_EQ(good_help({"tokenize", tiny, "the cat", "-o", out}), "");
  EXPECT_EQ(base::read_text_file(out), good_help({"tokenize", tiny, "the cat"}));
  EXPECT_EQ(good_help({"-v"}), good_help({"--version"}));
  EXPECT_EQ(good_help({"embed", "-v"}), good_help({"--version"}));
  EXPECT_NE(good_help({"embed", "-h"}).find("\n  -o, --out FILE "), std::string::npos);
  EXPECT_EQ(run_program({"embed", tiny, "cat", "-o"}).exit_code, 2);
}

TEST(CliHelp, ForwardSaysThatItReadsArrays) {
  EXPECT_NE(good_help({"help", "forward"}).find(".npy"), std::string::npos);
}

TEST(CliManual, HasAPageForTheProgramAndForEachVerb) {
  const TemporaryFolder folder;
  good_help({"__man", folder.path().string()});
  const std::string whole = base::read_text_file(folder.path() / "alate.1");
  std::size_t pages = 1;
  for (const std::string& verb : listed_verbs()) {
    SCOPED_TRACE(verb);
    ++pages;
    const std::string page = base::read_text_file(folder.path() / ("alate-" + verb + ".1"));
    EXPECT_NE(page.find("\n.SH NAME\n"), std::string::npos);
    EXPECT_NE(whole.find("alate\\-" + verb + "\\fR(1)"), std::string::npos);
    // Each option of the help is in the page.
    for (const std::string& line : lines_of(good_help({"help", verb}))) {
      if (!line.starts_with("  -")) continue;
      std::string name = line.substr(line.find("--"));
      name.resize(name.find_first_of(" ,"));
      std::string escaped;
      for (const char c : name) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_NE(page.find("\\fB" + escaped + "\\fR"), std::string::npos) << name;
    }
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, pages);
}

TEST(CliManual, PagesFormatWithoutWarningsAndKeepExamples) {
  const ProgramRun has = run_program({"-c", "command -v groff"}, {.program = "/bin/sh"});
  if (has.exit_code != 0) GTEST_SKIP() << "groff is not here";
  const TemporaryFolder folder;
  good_help({"__man", folder.path().string()});
  const ProgramRun run =
      run_program({"-c", "cd \"$1\" && for page in *.1; do groff -man -Tascii -ww -rLL=120n \"$page\"; done", "sh",
                   folder.path().string()},
                  {.program = "/bin/sh"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  for (const std::string line : {"alate tokenize builtin:minilm --decode 101 2054 102",
                                 "printf 'the first line\\nthe second line\\n' >texts.txt"})
    EXPECT_NE(run.out.find(line), std::string::npos) << line;
}

TEST(CliManual, PagesAndCompletionScriptsAreBesideTheProgramAsInAnInstallation) {
  const TemporaryFolder folder;
  good_help({"__man", folder.path().string()});
  const auto share = std::filesystem::path(program_path()).parent_path().parent_path() / "share";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(base::read_text_file(share / "man/man1" / entry.path().filename()), base::read_text_file(entry.path()));
  EXPECT_EQ(base::read_text_file(share / "bash-completion/completions/alate"), good_help({"completion", "bash"}));
  EXPECT_EQ(base::read_text_file(share / "zsh/site-functions/_alate"), good_help({"completion", "zsh"}));
  EXPECT_EQ(base::read_text_file(share / "fish/vendor_completions.d/alate.fish"), good_help({"completion", "fish"}));
}

}  // namespace
}  // namespace alate::tests
