// What is found out of templates, by templates in the manner of the families.
#include "pipelines/generate/template_traits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/unit/pipelines/family_templates.h"

namespace alate::pipelines {
namespace {

using ToolsBy = TemplateTraits::ToolsBy;

TemplateTraits traits(std::string_view text) {
  return traits_of(ChatTemplate(text, {{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
}

TEST(TemplateTraits, OfHermesAndQwen) {
  const TemplateTraits found = traits(tests::kQwenTemplate);
  EXPECT_EQ(found.tools_by, ToolsBy::variable);
  EXPECT_EQ(found.calls->name, "hermes");
  EXPECT_TRUE(found.writes_calls && found.writes_results && found.several_calls && found.has_system);
  EXPECT_FALSE(found.arguments_are_text || found.short_ids || found.needs_content || found.has_developer ||
               found.needs_parts);
}

TEST(TemplateTraits, OfLlama3WhichWritesOneCallAMessage) {
  const TemplateTraits found = traits(tests::kLlamaTemplate);
  EXPECT_EQ(found.tools_by, ToolsBy::variable);
  EXPECT_EQ(found.calls->name, "llama3");
  EXPECT_TRUE(found.writes_calls && found.writes_results);
  EXPECT_FALSE(found.several_calls);
}

TEST(TemplateTraits, OfMistralWhichWantsShortIds) {
  const TemplateTraits found = traits(tests::kMistralTemplate);
  EXPECT_EQ(found.tools_by, ToolsBy::variable);
  EXPECT_EQ(found.calls->name, "mistral");
  EXPECT_TRUE(found.writes_calls && found.short_ids);
  EXPECT_FALSE(found.has_system);
}

TEST(TemplateTraits, OfPhi4MiniWhichFindsToolsInTheSystemsMessage) {
  const TemplateTraits found = traits(tests::kPhiTemplate);
  EXPECT_EQ(found.tools_by, ToolsBy::system_message);
  EXPECT_EQ(found.calls->name, "phi4");
  EXPECT_FALSE(found.writes_calls);
  EXPECT_TRUE(found.writes_results);
}

TEST(TemplateTraits, OfSmolLm3WhichHasAVariableOfItsOwn) {
  const TemplateTraits found = traits(tests::kSmolTemplate);
  EXPECT_EQ(found.tools_by, ToolsBy::xml_variable);
  EXPECT_EQ(found.calls->name, "hermes");
  EXPECT_FALSE(found.writes_calls);
  EXPECT_TRUE(found.writes_results);
}

TEST(TemplateTraits, OfTemplatesWhoseArgumentsAreText) {
  const TemplateTraits found = traits(tests::kTextArgumentsTemplate);
  EXPECT_TRUE(found.writes_calls && found.arguments_are_text && found.needs_content);
}

TEST(TemplateTraits, WithoutToolsTheGeneralFormatIsUsed) {
  for (const std::string_view text :
       {tests::kPlainTemplate, tests::kGemmaTemplate, std::string_view("{{ 1 / 0 }}"), tests::kUnknownFormatTemplate,
        std::string_view("x{{ tools }}"), tests::kUnknownTagsTemplate}) {
    const TemplateTraits found = traits(text);
    EXPECT_EQ(found.tools_by, ToolsBy::none) << text;
    EXPECT_EQ(found.calls, &general_call_format()) << text;
    EXPECT_FALSE(found.writes_calls || found.writes_results) << text;
  }
  EXPECT_TRUE(traits(tests::kPlainTemplate).has_system);
  EXPECT_FALSE(traits(tests::kGemmaTemplate).has_system);
}

TEST(TemplateTraits, ADeveloperIsKnownWhereItIsWrittenAsNoOtherRoleIs) {
  EXPECT_FALSE(traits(tests::kPlainTemplate).has_developer);
  EXPECT_TRUE(traits("{% for m in messages %}{% if m.role == 'developer' %}[D]{% else %}[{{ m.role }}]{% endif %}"
                     "{{ m.content }}{% endfor %}")
                  .has_developer);
}

TEST(TemplateTraits, ContentsAreListsOfPartsWhereNothingElseIsWritten) {
  EXPECT_TRUE(
      traits("{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}").needs_parts);
  EXPECT_FALSE(traits(tests::kPlainTemplate).needs_parts);
}

// The templates of published models that tools/fetch_tokenizers fetched.
TEST(TemplateTraits, OfPublishedModels) {
  const char* folder = std::getenv("ALATE_TEST_TOKENIZERS");
  if (folder == nullptr) GTEST_SKIP() << "needs ALATE_TEST_TOKENIZERS";
  const auto found = [&](std::string_view name) {
    return traits_of(ChatTemplate::load(std::filesystem::path(folder) / name));
  };
  EXPECT_EQ(found("qwen3").calls->name, "hermes");
  EXPECT_EQ(found("qwen2_5").calls->name, "hermes");
  EXPECT_EQ(found("llama3_2").calls->name, "llama3");
  EXPECT_FALSE(found("llama3_2").several_calls);
  EXPECT_EQ(found("mistral_nemo").calls->name, "mistral");
  EXPECT_TRUE(found("mistral_nemo").short_ids);
  EXPECT_EQ(found("gemma3").tools_by, ToolsBy::none);
  for (const std::string_view name : {"qwen3", "qwen2_5", "llama3_2", "mistral_nemo"}) {
    EXPECT_EQ(found(name).tools_by, ToolsBy::variable) << name;
    EXPECT_TRUE(found(name).writes_calls && found(name).writes_results) << name;
    EXPECT_FALSE(found(name).arguments_are_text) << name;
  }
}

}  // namespace
}  // namespace alate::pipelines
