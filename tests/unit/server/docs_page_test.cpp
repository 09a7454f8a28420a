#include "server/page/docs_page.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string>

namespace alate::server {
namespace {

// What stands between the first `begin` and the `end` behind it.
std::string between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  const std::size_t to = text.find(end, from + begin.size());
  return std::string(text.substr(from + begin.size(), to - from - begin.size()));
}

std::string sha256_base64(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  std::string out(4 * ((size + 2) / 3) + 1, '\0');
  out.resize(static_cast<std::size_t>(
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), digest, static_cast<int>(size))));
  return out;
}

std::string header(const Response& response, std::string_view name) {
  const std::string* value = response.headers.find(name);
  return value == nullptr ? "" : *value;
}

TEST(DocsPage, AllowsExactlyItsOwnScriptAndStyle) {
  const Response page = docs_page("");
  const std::string policy = header(page, "Content-Security-Policy");
  const std::string script = between(page.body, "<script>", "</script>");
  const std::string style = between(page.body, "<style>", "</style>");
  ASSERT_FALSE(script.empty());
  ASSERT_FALSE(style.empty());
  EXPECT_NE(policy.find("script-src 'sha256-" + sha256_base64(script) + "';"), std::string::npos) << policy;
  EXPECT_NE(policy.find("style-src 'sha256-" + sha256_base64(style) + "';"), std::string::npos) << policy;
  EXPECT_TRUE(policy.starts_with("default-src 'none';")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST(DocsPage, NeedsNothingFromElsewhere) {
  const Response page = docs_page("");
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
  // One script, and none in attributes, which the policy would refuse.
  EXPECT_EQ(page.body.find("<script", page.body.find("<script") + 1), std::string::npos);
  for (const char* inside : {" onclick=", " style=", "javascript:", "innerHTML", "eval("})
    EXPECT_EQ(page.body.find(inside), std::string::npos) << inside;
}

TEST(DocsPage, IsHtml) {
  const Response page = docs_page("");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(page, "X-Content-Type-Options"), "nosniff");
  EXPECT_TRUE(page.body.starts_with("<!DOCTYPE html>"));
}

TEST(DocsPage, ReadsOutNothingButWordsAboutWhatHappened) {
  const Response page = docs_page("");
  EXPECT_NE(page.body.find(R"(<p id="nothing" class="soft" role="status"></p>)"), std::string::npos);
  EXPECT_NE(page.body.find(R"(status.setAttribute("role", "status"))"), std::string::npos);
  EXPECT_EQ(page.body.find("aria-live"), std::string::npos);
}

TEST(DocsPage, KnowsTheBasePath) {
  EXPECT_NE(docs_page("/llm").body.find(R"(name="base-path" content="/llm")"), std::string::npos);
  EXPECT_NE(docs_page("/a\"><b>&").body.find("content=\"/a&quot;&gt;&lt;b&gt;&amp;\""), std::string::npos);
}

}  // namespace
}  // namespace alate::server
