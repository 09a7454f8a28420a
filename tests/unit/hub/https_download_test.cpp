#include "hub/http/https_download.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hub/http/proxy.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/hub/web_server.h"

namespace alate::hub {
namespace {

// Without the proxies of the machine that runs the test.
class HttpsDownload : public testing::Test {
 protected:
  HttpsDownload() { ::setenv("no_proxy", "127.0.0.1", 1); }

  DownloadedText get(const std::string& path, const DownloadOptions& options = {}) const {
    return download_text(parse_http_url(server_.url(path)), options);
  }
  Error error_at(const std::string& path, const DownloadOptions& options = {}) const {
    return base::error_of([&] { get(path, options); });
  }

  WebServer server_;
};

TEST_F(HttpsDownload, AFile) {
  server_.put_file("/a", "text/plain", "hello");
  const DownloadedText answer = get("/a", {.accept = "text/plain"});
  EXPECT_EQ(answer.text, "hello");
  EXPECT_EQ(answer.facts.content_type, "text/plain");
  EXPECT_EQ(answer.facts.bytes, 5U);
  ASSERT_EQ(server_.requests().size(), 1U);
  const std::string request = server_.requests().front();
  EXPECT_EQ(request.find("GET /a HTTP/1.1\r\nHost: 127.0.0.1:"), 0U) << request;
  EXPECT_NE(request.find("\r\nAccept: text/plain\r\n"), std::string::npos) << request;
}

TEST_F(HttpsDownload, ChunksAndBodiesThatEndWithTheConnection) {
  server_.put("/chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  server_.put("/plain", "HTTP/1.0 200 OK\r\n\r\nall of it");
  EXPECT_EQ(get("/chunks").text, "abcde");
  EXPECT_EQ(get("/plain").text, "all of it");
}

TEST_F(HttpsDownload, InterimAnswersAreSkipped) {
  const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
  const std::string file = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext";
  server_.put("/hinted", "HTTP/1.1 100 Continue\r\n\r\n" + hints + file);
  EXPECT_EQ(get("/hinted").text, "text");
  std::string endless;
  for (int i = 0; i < 1000; ++i) endless += hints;
  server_.put("/endless", endless + file);
  EXPECT_EQ(error_at("/endless").code(), ErrorCode::unavailable);
}

TEST_F(HttpsDownload, ManyPieces) {
  std::string large(std::size_t{3} << 20, 'x');
  large.back() = 'y';
  server_.put_file("/large", "application/octet-stream", large);
  std::uint64_t done = 0, total = 0;
  std::size_t pieces = 0;
  download(parse_http_url(server_.url("/large")), {}, [&](std::span<const std::byte> piece, std::uint64_t of) {
    done += piece.size();
    total = of;
    ++pieces;
  });
  EXPECT_EQ(done, large.size());
  EXPECT_EQ(total, large.size());
  EXPECT_GT(pieces, 1U);
  EXPECT_EQ(get("/large").text, large);
}

TEST_F(HttpsDownload, FollowsRedirects) {
  server_.put("/old/a", "HTTP/1.1 302 Found\r\nLocation: ../new/b?c\r\nContent-Length: 5\r\n\r\nmoved");
  server_.put_file("/new/b?c", "text/plain", "here");
  const DownloadedText answer = get("/old/a");
  EXPECT_EQ(answer.text, "here");
  EXPECT_EQ(answer.facts.url.target, "/new/b?c");
}

TEST_F(HttpsDownload, RedirectsEnd) {
  server_.put("/loop", "HTTP/1.1 301 Moved\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n");
  server_.put("/nowhere", "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n");
  EXPECT_NE(error_at("/loop").message().find("without end"), std::string::npos);
  EXPECT_EQ(server_.requests().size(), 9U);
  EXPECT_NE(error_at("/nowhere").message().find("to nowhere"), std::string::npos);
}

TEST_F(HttpsDownload, StatusesAreErrors) {
  server_.put("/gone", "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n");
  server_.put("/mine", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  server_.put("/broken", "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_at("/missing").code(), ErrorCode::not_found);
  EXPECT_EQ(error_at("/gone").code(), ErrorCode::not_found);
  EXPECT_EQ(error_at("/mine").code(), ErrorCode::unauthenticated);
  EXPECT_EQ(error_at("/broken").code(), ErrorCode::unavailable);
}

TEST_F(HttpsDownload, AnswersThatAreCutOffOrNoHttp) {
  server_.put("/short", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  server_.put("/half", "HTTP/1.1 200 OK\r\nContent-Le");
  server_.put("/other", "SSH-2.0-OpenSSH\r\n\r\n");
  EXPECT_NE(error_at("/short").message().find("before the end"), std::string::npos);
  EXPECT_EQ(error_at("/half").code(), ErrorCode::unavailable);
  EXPECT_NE(error_at("/other").message().find("no HTTP"), std::string::npos);
}

TEST_F(HttpsDownload, NoMoreThanIsAllowed) {
  server_.put_file("/ten", "text/plain", "0123456789");
  server_.put("/chunks",
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n");
  EXPECT_EQ(get("/ten", {.max_bytes = 10}).text.size(), 10U);
  EXPECT_EQ(error_at("/ten", {.max_bytes = 9}).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(error_at("/chunks", {.max_bytes = 9}).code(), ErrorCode::resource_exhausted);
}

TEST_F(HttpsDownload, NobodyThere) {
  const Error error = base::error_of([] { download_text(parse_http_url("http://127.0.0.1:1/"), {}); });
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_NE(error.message().find("127.0.0.1:1"), std::string::npos) << error.message();
}

TEST_F(HttpsDownload, TlsToAServerWithoutItFails) {
  server_.put_file("/a", "text/plain", "hello");
  std::string url = server_.url("/a");
  url.replace(0, 4, "https");
  EXPECT_EQ(base::error_of([&] { download_text(parse_http_url(url), {}); }).code(), ErrorCode::unavailable);
}

TEST_F(HttpsDownload, CredentialsOfTheAddressAreSent) {
  server_.put_file("/a", "text/plain", "hello");
  HttpUrl url = parse_http_url(server_.url("/a"));
  url.credentials = "Aladdin:open sesame";  // RFC 7617's example
  download_text(url, {});
  EXPECT_NE(server_.requests().front().find("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"),
            std::string::npos);
}

TEST_F(HttpsDownload, ThroughAProxy) {
  ::setenv("http_proxy", server_.url("").c_str(), 1);
  server_.put_file("http://files.example/a", "text/plain", "by proxy");
  EXPECT_EQ(download_text(parse_http_url("http://files.example/a"), {}).text, "by proxy");
  ::unsetenv("http_proxy");
}

TEST(Proxy, AsTheVariablesSay) {
  const HttpUrl secure = parse_http_url("https://files.example/a"), plain = parse_http_url("http://files.example/a");
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "no_proxy", "NO_PROXY"})
    ::unsetenv(name);
  EXPECT_EQ(proxy_for(secure), "");
  ::setenv("HTTPS_PROXY", "proxy.example:3128", 1);
  EXPECT_EQ(proxy_for(secure), "http://proxy.example:3128");
  EXPECT_EQ(proxy_for(plain), "");
  for (const char* exception : {"files.example", ".example", "example", "a, files.example", "*", "files.example:443"}) {
    ::setenv("no_proxy", exception, 1);
    EXPECT_EQ(proxy_for(secure), "") << exception;
  }
  for (const char* exception : {"les.example", "files.example:80", "other"}) {
    ::setenv("no_proxy", exception, 1);
    EXPECT_EQ(proxy_for(secure), "http://proxy.example:3128") << exception;
  }
  ::unsetenv("no_proxy");
  ::unsetenv("HTTPS_PROXY");
}

// Whether an address is asked for without the proxy.
bool is_excepted(const std::string& host, const char* exceptions) {
  ::setenv("http_proxy", "proxy.example:3128", 1);
  ::setenv("no_proxy", exceptions, 1);
  const bool is_direct = proxy_for(parse_http_url("http://" + host + ":8080/a")).empty();
  ::unsetenv("no_proxy");
  ::unsetenv("http_proxy");
  return is_direct;
}

TEST(Proxy, ExceptionsMayBeRangesOfAddresses) {
  for (const char* range : {"localhost,127.0.0.0/8", "127.0.0.1/32", "127.9.9.9/8", "0.0.0.0/0", "126.0.0.0/7"})
    EXPECT_TRUE(is_excepted("127.0.0.1", range)) << range;
  for (const char* range : {"10.0.0.0/8", "127.0.0.2/32", "128.0.0.0/8", "127.0.0.0/33", "127.0.0.0/", "127.0.0/8",
                            "127.0.0.0/8x", "127.0.0.0/-1", "::/0", "256.0.0.0/0"})
    EXPECT_FALSE(is_excepted("127.0.0.1", range)) << range;
  for (const char* range : {"2001:db8::/32", "2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:8080", "::/0",
                            "2001:0db8:0:0:0:0:0:0/64", "2001:db8::192.0.2.1/96"})
    EXPECT_TRUE(is_excepted("[2001:db8::7]", range)) << range;
  for (const char* range :
       {"2001:db9::/32", "2001:db8::8/128", "0.0.0.0/0", "2001:db8::/129", "2001::db8::/8", ":::/0"})
    EXPECT_FALSE(is_excepted("[2001:db8::7]", range)) << range;
  EXPECT_TRUE(is_excepted("[::ffff:127.0.0.1]", "127.0.0.0/8"));
  EXPECT_FALSE(is_excepted("files.example", "0.0.0.0/0"));
}

TEST(Proxy, ExceptionsAreWrittenInAnyCaseWithCommasOrSpaces) {
  EXPECT_TRUE(is_excepted("Files.Example", "files.example"));
  EXPECT_TRUE(is_excepted("files.example.", "a\t.EXAMPLE"));
  EXPECT_TRUE(is_excepted("127.0.0.1", "a 127.0.0.1"));
  EXPECT_FALSE(is_excepted("110.0.0.1", "10.0.0.1"));
}

}  // namespace
}  // namespace alate::hub
