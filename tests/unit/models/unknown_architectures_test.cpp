// Messages about architectures and heads that are not built.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::models {
namespace {

std::string refusal(const std::string& config) {
  const formats::Json json = formats::parse_json(config, "config.json");
  const Error error = base::error_of([&] { (void)find_architecture(json); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  return error.message();
}

void expect_part(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(UnknownArchitectures, OfATypoNameTheNearest) {
  const std::string message = refusal(R"({"model_type": "modernbrt"})");
  expect_part(message, "did you mean modernbert?");
  expect_part(message, "`alate help models` lists them");
  EXPECT_TRUE(message.ends_with(": modernbrt")) << message;
}

TEST(UnknownArchitectures, ThatAreKnownSayWhatTheyAre) {
  expect_part(refusal(R"({"model_type": "whisper"})"), "it is an encoder with a decoder");
  expect_part(refusal(R"({"model_type": "mamba"})"), "it is recurrent");
}

TEST(UnknownArchitectures, WithCodeOfTheirOwnNameIt) {
  const std::string message = refusal(
      R"({"model_type": "someones", "auto_map": {"AutoConfig": "c.C", "AutoModel": "modeling_someones.SomeonesModel"}})");
  expect_part(message, "code of its own, which is never run: \"modeling_someones.SomeonesModel\"");
  expect_part(refusal(R"({"auto_map": {"AutoModel": "m.M"}})"), "names no model_type; it comes with code");
}

TEST(UnknownArchitectures, MayHaveAnAutoMapOfAnyForm) {
  for (const char* map : {"null", "3", "[]", "{}", R"({"AutoModel": null})", R"({"AutoModel": ["a", "b"]})"})
    EXPECT_EQ(refusal(R"({"model_type": "x", "auto_map": )" + std::string(map) + "}").find("code of its own"),
              std::string::npos);
}

TEST(UnknownHeads, NameTheHeadsThatAreBuilt) {
  for (const Architecture& architecture : architectures()) {
    const std::string whole = std::string(architecture.class_name) + "ForSomethingElse";
    const formats::Json config = formats::Json::Object{{"architectures", formats::Json::Array{formats::Json(whole)}}};
    const Error error = base::error_of([&] { (void)find_head(architecture, config); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    for (const EncoderHead& head : architecture.heads)
      expect_part(error.message(), std::string(architecture.class_name) + std::string(head.name));
    EXPECT_TRUE(error.message().ends_with(": " + whole)) << error.message();
  }
}

}  // namespace
}  // namespace alate::models
