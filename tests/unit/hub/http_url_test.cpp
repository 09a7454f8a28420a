#include "hub/http/http_url.h"

#include <gtest/gtest.h>

#include "tests/unit/base/expect_error.h"

namespace alate::hub {
namespace {

TEST(HttpUrl, Parts) {
  const HttpUrl url = parse_http_url("https://user:p%40ss@pypi.example:8443/simple/a/?q=1#sha256=00");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.credentials, "user:p@ss");
  EXPECT_EQ(url.host, "pypi.example");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.target, "/simple/a/?q=1");
  EXPECT_EQ(url.text(), "https://pypi.example:8443/simple/a/?q=1");  // never the password
}

TEST(HttpUrl, Defaults) {
  EXPECT_EQ(parse_http_url("https://a").port, 443);
  EXPECT_EQ(parse_http_url("http://a").port, 80);
  EXPECT_EQ(parse_http_url("https://a").target, "/");
  EXPECT_EQ(parse_http_url("https://a?x").target, "/?x");
  EXPECT_EQ(parse_http_url("http://[::1]:81/").authority(), "[::1]:81");
  EXPECT_EQ(parse_http_url("https://a:443/").authority(), "a");
}

TEST(HttpUrl, OthersAreRefusedWithoutTheirPasswords) {
  for (const char* text : {"ftp://a/", "a/b", "https://", "https://a:0/", "https://a:x/", "https://a:99999/",
                           "https://[::1/", "https://a/b c", "https://a/\r\nX: y", "file:///etc/passwd"})
    EXPECT_EQ(base::error_of([&] { parse_http_url(text); }).code(), ErrorCode::invalid_argument) << text;
  const Error error = base::error_of([] { parse_http_url("https://me:secret@a:x/"); });
  EXPECT_EQ(error.message().find("secret"), std::string::npos) << error.message();
}

// The examples of RFC 3986, section 5.4, that web servers send.
TEST(HttpUrl, References) {
  const HttpUrl base = parse_http_url("https://a/b/c/d;p?q");
  const auto resolved = [&](const char* reference) { return resolve_http_url(base, reference).text(); };
  EXPECT_EQ(resolved("g"), "https://a/b/c/g");
  EXPECT_EQ(resolved("./g"), "https://a/b/c/g");
  EXPECT_EQ(resolved("g/"), "https://a/b/c/g/");
  EXPECT_EQ(resolved("/g"), "https://a/g");
  EXPECT_EQ(resolved("//g/h"), "https://g/h");
  EXPECT_EQ(resolved("?y"), "https://a/b/c/d;p?y");
  EXPECT_EQ(resolved("g?y#s"), "https://a/b/c/g?y");
  EXPECT_EQ(resolved("../g"), "https://a/b/g");
  EXPECT_EQ(resolved("../../g"), "https://a/g");
  EXPECT_EQ(resolved("../../../g"), "https://a/g");
  EXPECT_EQ(resolved(".."), "https://a/b/");
  EXPECT_EQ(resolved("http://x/y"), "http://x/y");
}

TEST(HttpUrl, CredentialsStayWithTheirHost) {
  const HttpUrl base = parse_http_url("https://me:pw@a/simple/");
  EXPECT_EQ(resolve_http_url(base, "../file").credentials, "me:pw");
  EXPECT_EQ(resolve_http_url(base, "https://a/file").credentials, "me:pw");
  EXPECT_EQ(resolve_http_url(base, "https://b/file").credentials, "");
  EXPECT_EQ(resolve_http_url(base, "http://a/file").credentials, "");
}

TEST(HttpUrl, ReferencesOfOtherSchemesAreRefused) {
  const HttpUrl base = parse_http_url("https://a/b");
  for (const char* reference : {"file:///etc/passwd", "ftp://a/", "data:x", "HTTP:x"})
    EXPECT_EQ(base::error_of([&] { resolve_http_url(base, reference); }).code(), ErrorCode::invalid_argument)
        << reference;
  EXPECT_EQ(resolve_http_url(base, "c/d:e").text(), "https://a/c/d:e");
  EXPECT_EQ(resolve_http_url(base, "?x=a:b").target, "/b?x=a:b");
}

TEST(HttpUrl, OriginsAndShownAddresses) {
  const HttpUrl url = parse_http_url("https://a/b?signature=secret");
  EXPECT_EQ(url.shown(), "https://a/b");
  EXPECT_TRUE(url.has_origin_of(parse_http_url("https://a:443/other")));
  for (const char* other : {"http://a/", "https://b/", "https://a:444/"})
    EXPECT_FALSE(url.has_origin_of(parse_http_url(other))) << other;
}

// As Python's urllib.parse.quote.
TEST(HttpUrl, PercentEncoding) {
  EXPECT_EQ(percent_encoded("a/b c~\xc3\xa9?#%"), "a%2Fb%20c~%C3%A9%3F%23%25");
  EXPECT_EQ(percent_encoded("a/b", "/"), "a/b");
}

}  // namespace
}  // namespace alate::hub
