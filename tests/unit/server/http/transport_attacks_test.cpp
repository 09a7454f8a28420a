// Requests that no honest client sends: each gets its status, and what follows it on the connection is never read as a
// request. docs/security.md has a row for each.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

struct Attack {
  std::string name;
  std::string bytes;
  int status;  // of the answer, after which the connection must end
};

std::ostream& operator<<(std::ostream& out, const Attack& attack) { return out << attack.name; }

const std::string kHead = "POST /echo HTTP/1.1\r\nHost: a\r\n";
const std::string kChunked = kHead + "Transfer-Encoding: chunked\r\n\r\n";
const std::string kNext = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
std::string with_header(const std::string& line) { return "GET /echo HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n"; }

std::vector<Attack> attacks() {
  using std::string_literals::operator""s;
  return {
      // Chunks.
      {"ChunkSizeNegative", kChunked + "-5\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkSizeOverflowsSixtyFourBits", kChunked + "10000000000000005\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkSizeLargerThanAnyBody", kChunked + "ffffffffffffffff\r\nhello", 413},
      {"ChunkSizeOverTheLimit", kChunked + "100001\r\n", 413},
      {"ChunkSizeOfEndlessZeros", kChunked + std::string(100000, '0'), 400},
      {"ChunkSizeIsNoHexadecimal", kChunked + "xyz\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkSizeWithPrefix", kChunked + "0x5\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkSizeMissing", kChunked + "\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkSizeWithLeadingSpace", kChunked + " 5\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkWithoutLineBreakAfterData", kChunked + "5\r\nhello0\r\n\r\n", 400},
      {"ChunkLongerThanItsSize", kChunked + "3\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkLineEndsInLineFeedAlone", kChunked + "5\nhello\r\n0\r\n\r\n", 400},
      {"ChunkExtensionWithoutEnd", kChunked + "5;" + std::string(100000, 'x'), 400},
      {"ChunkExtensionMalformed", kChunked + "5;=\r\nhello\r\n0\r\n\r\n", 400},
      {"ChunkExtensionsInManyChunks",
       kChunked + repeated("1;" + std::string(4000, 'x') + "\r\na\r\n", 40) + "0\r\n\r\n", 400},
      {"TrailersWithoutEnd", kChunked + "0\r\n" + repeated("A: b\r\n", 20000), 400},
      {"TrailerMalformed", kChunked + "0\r\nno colon\r\n\r\n", 400},
      {"TrailerWithContentLength", kChunked + "0\r\nContent-Length: 5\r\n\r\n", 400},
      {"ChunkedBodyOverTheLimit", kChunked + repeated("10000\r\n" + std::string(0x10000, 'x') + "\r\n", 17), 413},
      // How long the body is.
      {"TransferEncodingWithContentLength", kHead + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
       400},
      {"ContentLengthWithTransferEncoding", kHead + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"ContentLengthWithUnknownEncoding", kHead + "Transfer-Encoding: gzip\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
       400},
      {"TransferEncodingGzip", kHead + "Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501},
      {"TransferEncodingChunkedTwiceInOne", kHead + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501},
      {"TransferEncodingGzipChunked", kHead + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"TransferEncodingIdentity", kHead + "Transfer-Encoding: identity\r\n\r\n", 501},
      {"TransferEncodingEmpty", kHead + "Transfer-Encoding: \r\n\r\n", 501},
      {"TransferEncodingQuoted", kHead + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 501},
      {"TransferEncodingAfterVerticalTab", kHead + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n", 400},
      {"TransferEncodingInTwoHeaders", kHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"TransferEncodingInTwoDifferentHeaders",
       kHead + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
      {"TransferEncodingWithBlankBeforeColon", kHead + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
      {"TransferEncodingInHttp10", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"ContentLengthTwiceTheSame", kHead + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
      {"ContentLengthTwiceDifferent", kHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
      {"ContentLengthList", kHead + "Content-Length: 5, 5\r\n\r\nhello", 400},
      {"ContentLengthNegative", kHead + "Content-Length: -5\r\n\r\nhello", 400},
      {"ContentLengthWithPlus", kHead + "Content-Length: +5\r\n\r\nhello", 400},
      {"ContentLengthHexadecimal", kHead + "Content-Length: 0x5\r\n\r\nhello", 400},
      {"ContentLengthWithFraction", kHead + "Content-Length: 5.0\r\n\r\nhello", 400},
      {"ContentLengthEmpty", kHead + "Content-Length: \r\n\r\nhello", 400},
      {"ContentLengthOverflowsSixtyFourBits", kHead + "Content-Length: 18446744073709551621\r\n\r\nhello", 400},
      {"ContentLengthOverTheLimit", kHead + "Content-Length: 1048577\r\n\r\nhello", 413},
      {"ContentLengthNearTheLargestNumber", kHead + "Content-Length: 999999999999999999\r\n\r\nhello", 413},
      {"ContentLengthTheLargestNumber", kHead + "Content-Length: 18446744073709551615\r\n\r\nhello", 413},
      {"CompressedBody", kHead + "Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\nhe", 415},
      {"UnknownExpectation", kHead + "Expect: a-miracle\r\nContent-Length: 5000\r\n\r\nhe", 417},
      // Headers.
      {"TooManyHeaders", "GET /echo HTTP/1.1\r\nHost: a\r\n" + repeated("A: b\r\n", 101) + "\r\n", 431},
      {"HeadersTooLarge",
       "GET /echo HTTP/1.1\r\nHost: a\r\n" + repeated("A: " + std::string(1000, 'x') + "\r\n", 20) + "\r\n", 431},
      {"OneHugeHeader", with_header("A: " + std::string(20000, 'x')), 431},
      {"HeadersWithoutEnd", "GET /echo HTTP/1.1\r\nHost: a\r\nA: " + std::string(200000, 'x'), 431},
      {"HeaderNamesWithoutEnd", "GET /echo HTTP/1.1\r\nHost: a\r\n" + std::string(200000, 'x'), 431},
      {"HeaderWithoutColon", with_header("nocolon"), 400},
      {"HeaderWithoutName", with_header(": value"), 400},
      {"HeaderNameWithBlank", with_header("A B: c"), 400},
      {"HeaderNameWithBlankBeforeColon", with_header("A : c"), 400},
      {"HeaderNameNotAscii", with_header("\xc3\xa4: c"), 400},
      {"HeaderFoldedOverLines", with_header("A: b\r\n  c"), 400},
      {"FirstHeaderFolded", "GET /echo HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"HeaderWithNul", with_header("A: b\0c"s), 400},
      {"HeaderNameWithNul", with_header("A\0: c"s), 400},
      {"HeaderWithEscape", with_header("A: \x1b[31m"), 400},
      {"HeaderWithDelete", with_header("A: \x7f"), 400},
      {"LinesEndInLineFeedAlone", "GET /echo HTTP/1.1\nHost: a\n\n", 400},
      {"HeaderEndsInLineFeedAlone", "GET /echo HTTP/1.1\r\nHost: a\nB: c\r\n\r\n", 400},
      {"HeaderWithCarriageReturnAlone", with_header("A: b\rX: y"), 400},
      {"HeadEndsInTwoCarriageReturns", "GET /echo HTTP/1.1\r\nHost: a\r\n\r\r\n", 400},
      {"HostMissing", "GET /echo HTTP/1.1\r\n\r\n", 400},
      {"HostTwice", "GET /echo HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"HostTwiceInHttp10", "GET /echo HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"HostEmpty", "GET /echo HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"HostWithPath", "GET /echo HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"HostWithUser", "GET /echo HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
      {"HostWithBadPort", "GET /echo HTTP/1.1\r\nHost: a:8x\r\n\r\n", 400},
      {"HostWithOpenBracket", "GET /echo HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
      {"HostList", "GET /echo HTTP/1.1\r\nHost: a, b c\r\n\r\n", 400},
      {"HostListWithoutBlanks", "GET /echo HTTP/1.1\r\nHost: a,b\r\n\r\n", 400},
      {"ConnectionHeaderMalformed", with_header("Connection: close; now"), 400},
      // Request lines.
      {"TargetTooLong", get("/" + std::string(9000, 'x')), 414},
      {"TargetWithoutEnd", "GET /" + std::string(200000, 'x'), 414},
      {"TargetMissing", "GET HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TargetWithSpace", get("/a b"), 400},
      {"TargetWithTab", get("/a\tb"), 400},
      {"TargetWithBadUtf8", get("/\xff\xfe"), 400},
      {"TargetWithRawUtf8", get("/\xc3\xa4"), 400},
      {"TargetWithNul", get("/a\0b"s), 400},
      {"TargetWithBrokenEscape", get("/%zz"), 400},
      {"TargetWithoutSlash", get("echo"), 400},
      {"TargetOfAnotherScheme", get("ftp://a/echo"), 400},
      {"TargetWithUser", get("http://u:p@a/echo"), 400},
      {"TargetStarForGet", get("*"), 400},
      {"TargetWithBadPort", get("http://a:x/echo"), 400},
      {"ConnectToAnAuthority", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 501},
      {"MethodWithBadCharacter", "G@T /echo HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"MethodMissing", " /echo HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"MethodWithoutEnd", std::string(200000, 'G'), 400},
      {"Http09", "GET /echo\r\n\r\n", 400},
      {"Http20", "GET /echo HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"Http12", "GET /echo HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"HttpInLowerCase", "GET /echo http/1.1\r\nHost: a\r\n\r\n", 400},
      {"VersionWithLongNumber", "GET /echo HTTP/1.10\r\nHost: a\r\n\r\n", 505},
      {"BlankLinesWithoutEnd", repeated("\r\n", 1000), 400},
      {"TlsOnAPlainPort", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s + std::string(200, '\x42'), 400},
      {"RandomBytes", "\x80\x9a\x00\xff\xfe\r\n\r\n"s, 400},
      {"GarbageAfterTheHead", kHead + "\r\n\x01garbage\r\n\r\n", 400},
  };
}

class TransportAttack : public testing::TestWithParam<Attack> {};

TEST_P(TransportAttack, IsRefusedAndTheConnectionEnds) {
  const Attack& attack = GetParam();
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(attack.bytes);
  client.send(kNext);  // must not be taken for a request
  RawAnswer answer = client.receive();
  // Garbage behind a good request: that one is answered first.
  if (attack.name == "GarbageAfterTheHead") {
    EXPECT_EQ(answer.status, 200);
    answer = client.receive();
  }
  EXPECT_EQ(answer.status, attack.status);
  ASSERT_TRUE(answer.headers.contains("connection"));
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_NE(answer.body.find("error"), std::string::npos);
  EXPECT_TRUE(client.ends());
  client.close();
  for (const auto& served : server.application.wait_served(1)) EXPECT_NE(served.path, "/smuggled");
  // The server is as well as before.
  EXPECT_EQ(ask(server, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  EXPECT_EQ(server.server.body_bytes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Each, TransportAttack, testing::ValuesIn(attacks()),
                         [](const auto& row) { return row.param.name; });

TEST(TransportAttacks, LeaveNoHeaderToInjection) {
  TestServer server;
  const RawAnswer answer = ask(server, "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.headers.contains("x-injected"));
  EXPECT_FALSE(answer.headers.contains("transfer-encoding"));
  EXPECT_EQ(answer.headers.at("x-value"), "a  X-Injected: 1    body");
  EXPECT_EQ(answer.headers.at("content-length"), "0");
}

}  // namespace
}  // namespace alate::server
