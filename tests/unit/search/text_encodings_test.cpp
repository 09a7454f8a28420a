// Texts in other encodings than UTF-8.
#include "search/encodings/text_encodings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace alate::search {
namespace {

using namespace std::string_view_literals;

std::string decoded(std::string_view bytes, std::string_view encoding) {
  return decode_bytes(bytes, encoding).value_or("none");
}

TEST(TextEncodings, HaveManyLabels) {
  EXPECT_EQ(encoding_of_label(" Latin1\n"), "windows-1252");
  EXPECT_EQ(encoding_of_label("ISO-8859-1"), "windows-1252");
  EXPECT_EQ(encoding_of_label("UTF8"), "utf-8");
  EXPECT_EQ(encoding_of_label("x-sjis"), "shift_jis");
  EXPECT_EQ(encoding_of_label("gb2312"), "gbk");
  EXPECT_EQ(encoding_of_label("no-such"), "");
}

TEST(TextEncodings, AreKnownByByteOrderMarksAndZeros) {
  EXPECT_EQ(encoding_sign("\xef\xbb\xbf"
                          "a")
                .mark,
            3U);
  EXPECT_EQ(encoding_sign("\xff\xfe"
                          "a\0"sv)
                .encoding,
            "utf-16le");
  EXPECT_EQ(encoding_sign("\xfe\xff\0a"sv).encoding, "utf-16be");
  EXPECT_EQ(encoding_sign("\xff\xfe\0\0a\0\0\0"sv).encoding, "utf-32le");
  EXPECT_EQ(encoding_sign("\0\0\xfe\xff\0\0\0a"sv).encoding, "utf-32be");
  std::string wide;
  for (const char c : "The dog barks and barks and barks all night long."sv) (wide += c) += '\0';
  EXPECT_EQ(encoding_sign(wide).encoding, "utf-16le");
  EXPECT_EQ(encoding_sign(wide).mark, 0U);
  EXPECT_EQ(encoding_sign("The dog barks.").encoding, "");
}

TEST(TextEncodings, ThatPagesState) {
  EXPECT_EQ(stated_encoding("<meta charset=windows-1252>"), "windows-1252");
  EXPECT_EQ(stated_encoding("<!-- <meta charset=big5> --><META CHARSET='KOI8-R'>"), "koi8-r");
  EXPECT_EQ(stated_encoding("<meta http-equiv=Content-Type content='text/html; charset = \"Shift_JIS\"'>"),
            "shift_jis");
  EXPECT_EQ(stated_encoding("<meta content='text/html;charset=iso-8859-2;x' http-equiv=\"content-type\">"),
            "iso-8859-2");
  EXPECT_EQ(stated_encoding("<meta name=x content='charset=big5'>"), "");
  EXPECT_EQ(stated_encoding("<title><meta charset=big5></title><script>'<meta charset=big5>'</script>"), "");
  EXPECT_EQ(stated_encoding("<meta charset=utf-16>"), "utf-8");  // it could not be read so far otherwise
  EXPECT_EQ(stated_encoding("<meta charset=nothing><meta charset=euc-kr>"), "euc-kr");
  EXPECT_EQ(stated_encoding("<?xml version=\"1.0\" encoding=\"iso-8859-15\"?><html>"), "iso-8859-15");
  EXPECT_EQ(stated_encoding("<body><meta charset=big5>"), "");
}

TEST(TextEncodings, OfAByteACharacter) {
  EXPECT_EQ(decoded("\x93"
                    "caf\xe9\x94 \x80\x81",
                    "windows-1252"),
            "\u201ccaf\u00e9\u201d \u20ac\u0081");
  EXPECT_EQ(decoded("\xcf\xf0\xe8\xe2\xe5\xf2", "windows-1251"), "\u041f\u0440\u0438\u0432\u0435\u0442");
  EXPECT_EQ(decoded("\xf0\xd2\xc9\xd7\xc5\xd4", "koi8-r"), "\u041f\u0440\u0438\u0432\u0435\u0442");
  EXPECT_EQ(decoded("\xa4\xa6", "iso-8859-15"), "\u20ac\u0160");
  EXPECT_EQ(decoded("\xe0\xff", "iso-8859-8-i"), "\u05d0\ufffd");  // a byte without a character
}

TEST(TextEncodings, OfSeveralBytesACharacter) {
  EXPECT_EQ(decoded("\x3d\xd8\x4d\xdc\x61\x00"sv, "utf-16le"), "\U0001F44Da");
  EXPECT_EQ(decoded("\xd8\x3d\xdc\x4d\xd8\x3d\x00\x61\x00"sv, "utf-16be"), "\U0001F44D\ufffda\ufffd");
  EXPECT_EQ(decoded("\x4d\xf4\x01\x00\x00\xd8\x00\x00\xff\xff\xff\xff"sv, "utf-32le"), "\U0001F44D\ufffd\ufffd");
  EXPECT_EQ(decoded("\x93\xfa\x96\x7b\x87\x40", "shift_jis"), "\u65e5\u672c\u2460");
  EXPECT_EQ(decoded("\xc6\xfc\xcb\xdc", "euc-jp"), "\u65e5\u672c");
  EXPECT_EQ(decoded("\x1b$BF|K\\\x1b(Ba", "iso-2022-jp"),
            "\u65e5\u672c"
            "a");
  EXPECT_EQ(decoded("\xd6\xd0\xce\xc4\x81\x30\x89\x38", "gbk"), "\u4e2d\u6587\u00df");
  EXPECT_EQ(decoded("\xa4\xa4\xa4\xe5", "big5"), "\u4e2d\u6587");
  EXPECT_EQ(decoded("\xc7\xd1\xb1\xdb\x8c\x63", "euc-kr"), "\ud55c\uae00\ub620");
  EXPECT_EQ(decoded("\xff"
                    "a\xc7",
                    "euc-kr"),
            "\ufffd"
            "a\ufffd");
  EXPECT_EQ(decode_bytes("a", "replacement"), std::nullopt);
}

}  // namespace
}  // namespace alate::search
