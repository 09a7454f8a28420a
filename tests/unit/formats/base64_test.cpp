#include "formats/base64.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/source_folder.h"

namespace alate::formats {
namespace {

std::string encoded(std::string_view text) {
  std::string out;
  append_base64(out, std::as_bytes(std::span(text)));
  return out;
}

std::vector<float> floats(const Json& list) {
  std::vector<float> values;
  for (const Json& value : list.as_array("list")) values.push_back(static_cast<float>(value.as_double("value")));
  return values;
}

// RFC 4648, section 10.
TEST(Base64, EncodesTheExamplesOfItsStandard) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, UsesTheStandardAlphabetForAllBits) { EXPECT_EQ(encoded("\xFB\xEF\xBE\xFF\xFF\xFF"), "++++////"); }

TEST(Base64, AppendsToWhatIsThere) {
  std::string out = "data:";
  append_base64(out, std::as_bytes(std::span(std::string_view("foo"))));
  EXPECT_EQ(out, "data:Zm9v");
}

TEST(Base64, EncodesFloatsAsNumpyDoes) {
  const auto golden =
      parse_json(base::read_text_file(source_folder() / "tests/golden/server/vectors.json"), "vectors.json");
  const auto& rows = golden.find("rows")->as_array("rows");
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string out;
    append_base64(out, std::span<const float>(floats(rows[i])));
    EXPECT_EQ(out, golden.find("base64")->as_array("base64")[i].as_string("row")) << "row " << i;
  }
  std::string special;
  append_base64(special, std::span<const float>(floats(*golden.find("special"))));
  EXPECT_EQ(special, golden.get_string("special_base64", ""));
}

}  // namespace
}  // namespace alate::formats
