#include "base/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/log_format.h"

namespace alate::base {
namespace {

// What the calls in `work` write to standard error; afterwards the log is as it was at the start.
template <typename Work>
std::string written_by(LogLevel level, LogStyle style, const Work& work) {
  configure_log(level, style);
  testing::internal::CaptureStderr();
  work();
  std::string text = testing::internal::GetCapturedStderr();
  configure_log(LogLevel::warn, LogStyle::terminal);
  return text;
}

TEST(Log, DropsWhatIsBelowTheLevel) {
  const std::string text = written_by(LogLevel::warn, LogStyle::terminal, [] {
    log(LogLevel::info, "too low");
    log(LogLevel::warn, "slow", {{"seconds", "2"}});
    log(LogLevel::error, "broken");
    log(LogLevel::off, "never");
  });
  EXPECT_EQ(text, "warn: slow seconds=2\nerror: broken\n");
}

TEST(Log, ASentenceIsForTerminalsAndFieldsForPrograms) {
  const auto warn = [] {
    log(LogLevel::warn, "texts were cut", {{"count", "1"}, {"of", "3"}}, "1 of \"3\" texts\x1b was cut\n");
  };
  EXPECT_EQ(written_by(LogLevel::warn, LogStyle::terminal, warn), "warn: 1 of \"3\" texts\\u001b was cut\\n\n");
  EXPECT_NE(written_by(LogLevel::warn, LogStyle::logfmt, warn).find("event=\"texts were cut\" count=1 of=3\n"),
            std::string::npos);
  EXPECT_NE(written_by(LogLevel::warn, LogStyle::json, warn).find(R"("event":"texts were cut","count":"1","of":"3"})"),
            std::string::npos);
  EXPECT_EQ(log_style(), LogStyle::terminal);
}

TEST(Log, HiddenCharactersAreEscapedInEveryStyle) {
  const auto warn = [] { log(LogLevel::warn, "read", {{"path", "a\u202egpj.b\u200f"}}, "read a\u202egpj.b\u200f"); };
  for (const LogStyle style : {LogStyle::terminal, LogStyle::logfmt, LogStyle::json}) {
    const std::string line = written_by(LogLevel::warn, style, warn);
    EXPECT_NE(line.find("a\\u202egpj.b\\u200f"), std::string::npos) << line;
  }
}

TEST(Log, KnowsWhetherItWouldWrite) {
  configure_log(LogLevel::debug, LogStyle::json);
  EXPECT_TRUE(logs(LogLevel::debug));
  EXPECT_FALSE(logs(LogLevel::trace));
  configure_log(LogLevel::trace, LogStyle::noop);
  EXPECT_FALSE(logs(LogLevel::error));
  configure_log(LogLevel::off, LogStyle::json);
  EXPECT_FALSE(logs(LogLevel::error));
  EXPECT_FALSE(logs(LogLevel::off));
  configure_log(LogLevel::warn, LogStyle::terminal);
}

TEST(Log, GoesToALibraryUsersSink) {
  std::vector<std::string> events;
  testing::internal::CaptureStderr();
  set_log_sink(
      [&](const LogEvent& event) {
        events.push_back(std::string(to_string(event.level)) + " " + std::string(event.event) + " " +
                         std::string(event.fields[0].key) + "=" + event.fields[0].value);
        log(LogLevel::error, "of the sink itself", {{"dropped", "1"}});
        throw std::runtime_error("dropped too");
      },
      LogLevel::info);
  log(LogLevel::debug, "too low", {{"n", "1"}});
  log(LogLevel::info, "loaded", {{"n", "2"}});
  log(LogLevel::error, "broken", {{"n", "3"}});
  set_log_sink({});
  log(LogLevel::info, "too low again");
  log(LogLevel::warn, "on standard error");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warn: on standard error\n");
  EXPECT_EQ(events, (std::vector<std::string>{"info loaded n=2", "error broken n=3"}));
}

TEST(Log, NoopAndOffWriteNothing) {
  EXPECT_EQ(written_by(LogLevel::trace, LogStyle::noop, [] { log(LogLevel::error, "x"); }), "");
  EXPECT_EQ(written_by(LogLevel::off, LogStyle::json, [] { log(LogLevel::error, "x"); }), "");
}

TEST(Log, JsonLinesCarryTimeLevelEventAndFields) {
  const std::string text = written_by(LogLevel::trace, LogStyle::json, [] {
    log(LogLevel::trace, "model loaded", {{"path", "a \"b\"\n"}, {"bytes", "12"}});
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(\{"time":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ","level":"trace","event":"model loaded",)"
                       R"("path":"a \\"b\\"\\n","bytes":"12"\}\n)")))
      << text;
}

TEST(Log, LogfmtLinesCarryTimeLevelEventAndFields) {
  const std::string text = written_by(LogLevel::info, LogStyle::logfmt, [] {
    log(LogLevel::info, "model loaded", {{"path", "a=b"}, {"bytes", "12"}});
  });
  EXPECT_TRUE(std::regex_match(
      text,
      std::regex(
          R"(time=20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ level=info event="model loaded" path="a=b" bytes=12\n)")))
      << text;
}

TEST(Log, PercentAndBracesAreTextNotFormats) {
  const std::string text = written_by(LogLevel::warn, LogStyle::terminal, [] {
    log(LogLevel::warn, "100%v {} {0}", {{"k", "%d{}"}});
  });
  EXPECT_EQ(text, "warn: 100%v {} {0} k=%d{}\n");
}

TEST(Log, LinesOfManyThreadsDoNotMix) {
  const std::string text = written_by(LogLevel::info, LogStyle::terminal, [] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 50; ++i) log(LogLevel::info, "line", {{"text", std::string(100, 'x')}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += "info: line text=" + std::string(100, 'x') + "\n";
  EXPECT_EQ(text, expected);
}

TEST(Log, NamesReadBack) {
  for (const LogLevel level :
       {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error, LogLevel::off}) {
    EXPECT_EQ(parse_log_level(to_string(level)), level);
  }
  for (const LogStyle style : {LogStyle::terminal, LogStyle::json, LogStyle::logfmt, LogStyle::noop}) {
    EXPECT_EQ(parse_log_style(to_string(style)), style);
  }
  EXPECT_EQ(parse_log_level("warn"), LogLevel::warn);
  EXPECT_FALSE(parse_log_level("warning"));
  EXPECT_FALSE(parse_log_level("WARN"));
  EXPECT_FALSE(parse_log_style(""));
}

TEST(LogFormat, QuotesEscapeWhatBreaksALine) {
  EXPECT_EQ(json_quoted("a\\b\"c\nd\te\rf"), R"("a\\b\"c\nd\te\rf")");
  EXPECT_EQ(json_quoted(std::string_view("\x00\x1b[31m\x7f", 7)), R"("\u0000\u001b[31m\u007f")");
  EXPECT_EQ(json_quoted("\xC2\x9B"
                        "31m"),
            R"("\u009b31m")");  // the one-character form of ESC [
}

TEST(LogFormat, KeepsTextBeyondAscii) { EXPECT_EQ(json_quoted("né 漢 😀"), "\"né 漢 😀\""); }

TEST(LogFormat, ReplacesWhatIsNoUtf8) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(json_quoted("a\xFF"), "\"a" + replaced + "\"");
  EXPECT_EQ(json_quoted("\xC3"), "\"" + replaced + "\"");                                // cut short
  EXPECT_EQ(json_quoted("\xC0\xAF"), "\"" + replaced + replaced + "\"");                 // overlong
  EXPECT_EQ(json_quoted("\xED\xA0\x80"), "\"" + replaced + replaced + replaced + "\"");  // a surrogate
  EXPECT_EQ(json_quoted("\xF4\x90\x80\x80"),
            "\"" + replaced + replaced + replaced + replaced + "\"");  // above U+10FFFF
}

TEST(LogFormat, BareValuesAreThoseThatCannotBeMisread) {
  EXPECT_EQ(quoted_if_needed("a/b-c:1.5"), "a/b-c:1.5");
  EXPECT_EQ(quoted_if_needed(""), "\"\"");
  EXPECT_EQ(quoted_if_needed("a b"), "\"a b\"");
  EXPECT_EQ(quoted_if_needed("a=b"), "\"a=b\"");
  EXPECT_EQ(quoted_if_needed("a\"b"), "\"a\\\"b\"");
}

}  // namespace
}  // namespace alate::base
