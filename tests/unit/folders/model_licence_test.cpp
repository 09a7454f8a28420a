#include "folders/model_licence.h"

#include <gtest/gtest.h>

#include <string>

namespace alate::folders {
namespace {

TEST(ModelLicence, IsThatOfTheCardsFrontMatter) {
  EXPECT_EQ(licence_of_card("---\nlanguage: en\nlicense: mit\n---\ntext"), "mit");
  EXPECT_EQ(licence_of_card("---\r\nlicense: \"apache-2.0\" \r\n---\r\n"), "apache-2.0");
  EXPECT_EQ(licence_of_card("---\nlicense: other\nlicense_name: gemma\nlicense_link: LICENSE\n---\n"), "gemma");
  EXPECT_EQ(licence_of_card("---\nlicense: other\n---\n"), "other");
  EXPECT_EQ(licence_of_card("---\nlicense: 'x\x1b[31my'\n---\n"), "x[31my");
  EXPECT_EQ(licence_of_card("---\nlicense: " + std::string(500, 'a')).size(), 200u);
}

TEST(ModelLicence, IsNothingElsewhere) {
  for (const char* card : {"", "license: mit", "# Title\n---\nlicense: mit\n---\n", "---\n---\nlicense: mit\n",
                           "---\n  license: mit\n---\n", "---\nlicenses: mit\n---\n", "---\nlicense:\n- mit\n---\n"})
    EXPECT_EQ(licence_of_card(card), "") << card;
}

}  // namespace
}  // namespace alate::folders
