#include "server/api/output_formats.h"

#include <gtest/gtest.h>

#include <string>

#include "server/exchange/family.h"

namespace alate::server {
namespace {

using Kind = OutputFormat::Kind;

OutputFormat read(std::string_view body) { return read_output_format(formats::parse_json(body, "the body")); }
OutputFormat ollama(std::string_view format) { return read_ollama_format(formats::parse_json(format, "format")); }

const OutputFormat kSchema{Kind::json_schema, R"({"type":"object"})"};

template <typename Read>
std::string parameter_refused(const Read& reads) {
  try {
    reads();
  } catch (const RequestError& error) {
    EXPECT_FALSE(error.problem().message.empty());
    return error.problem().parameter;
  }
  return "not refused";
}

TEST(OutputFormats, OfOpenAi) {
  EXPECT_EQ(read("{}"), OutputFormat{});
  EXPECT_EQ(read(R"({"response_format":null})"), OutputFormat{});
  EXPECT_EQ(read(R"({"response_format":{"type":"text"}})"), OutputFormat{});
  EXPECT_EQ(read(R"({"response_format":{"type":"json_object"}})").kind, Kind::json);
  EXPECT_EQ(
      read(
          R"({"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object"}}}})"),
      kSchema);
  EXPECT_EQ(read(R"({"response_format":{"type":"json_schema","json_schema":{"name":"a"}}})").kind, Kind::json);
}

TEST(OutputFormats, OfResponsesHaveTheSchemaBesideTheType) {
  const auto format = formats::parse_json(R"({"type":"json_schema","name":"a","schema":{"type":"object"}})", "format");
  EXPECT_EQ(read_response_format(format, "text.format"), kSchema);
}

TEST(OutputFormats, OfOtherServers) {
  EXPECT_EQ(read(R"({"response_format":{"type":"json_object","schema":{"type":"object"}}})"), kSchema);
  EXPECT_EQ(read(R"({"response_format":{"type":"json","value":{"type":"object"}}})"), kSchema);
  EXPECT_EQ(read(R"({"response_format":{"type":"regex","value":"a+"}})"), (OutputFormat{Kind::regex, "a+"}));
  EXPECT_EQ(read(R"({"json_schema":{"type":"object"}})"), kSchema);
  EXPECT_EQ(read(R"({"grammar":"root ::= \"a\""})"), (OutputFormat{Kind::grammar, R"(root ::= "a")"}));
  EXPECT_EQ(read(R"({"guided_json":{"type":"object"}})"), kSchema);
  EXPECT_EQ(read(R"({"guided_json":"{\"type\":\"object\"}"})"), kSchema);
  EXPECT_EQ(read(R"({"guided_regex":"a+"})"), (OutputFormat{Kind::regex, "a+"}));
  EXPECT_EQ(read(R"({"structured_outputs":{"regex":"a+"}})"), (OutputFormat{Kind::regex, "a+"}));
  EXPECT_EQ(read(R"({"structured_outputs":{"json_object":true}})").kind, Kind::json);
}

TEST(OutputFormats, ChoicesAreAGrammarOfTheirTexts) {
  EXPECT_EQ(read(R"({"guided_choice":["yes","\"no\"\\\n"]})"),
            (OutputFormat{Kind::grammar, R"(root ::= "yes" | "\"no\"\\\x0a")"}));
}

TEST(OutputFormats, OfOllama) {
  EXPECT_EQ(ollama(R"("")"), OutputFormat{});
  EXPECT_EQ(ollama("null"), OutputFormat{});
  EXPECT_EQ(ollama(R"("json")").kind, Kind::json);
  EXPECT_EQ(ollama(R"({"type":"object"})"), kSchema);
  for (const char* format : {R"("xml")", "5", "[]"})
    EXPECT_EQ(parameter_refused([&] { ollama(format); }), "format") << format;
}

TEST(OutputFormats, RefusesWhatIsNone) {
  for (const char* format : {R"("text")", "{}", R"({"type":5})", R"({"type":"xml"})", R"({"type":"regex"})",
                             R"({"type":"regex","value":5})", R"({"type":"json_schema","json_schema":{"schema":5}})"})
    EXPECT_EQ(parameter_refused([&] { read(R"({"response_format":)" + std::string(format) + "}"); }), "response_format")
        << format;
  for (const char* choices : {"[]", "[5]", R"("a")"})
    EXPECT_EQ(parameter_refused([&] { read(R"({"guided_choice":)" + std::string(choices) + "}"); }), "guided_choice")
        << choices;
  EXPECT_EQ(parameter_refused([] { read(R"({"structured_outputs":5})"); }), "structured_outputs");
}

TEST(OutputFormats, RefusesTwoAtOnce) {
  EXPECT_EQ(parameter_refused([] { read(R"({"response_format":{"type":"json_object"},"guided_regex":"a"})"); }),
            "guided_regex");
  EXPECT_EQ(read(R"({"response_format":{"type":"text"},"guided_regex":"a"})").kind, Kind::regex);
}

}  // namespace
}  // namespace alate::server
