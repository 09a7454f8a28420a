// What is read of a page in HTML.
#include "search/html_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/source_folder.h"

namespace alate::search {
namespace {

std::string text_of(std::string_view html) { return text_of_html(html).text; }

TEST(HtmlText, HasBlocksHeadingsAndNoMarkup) {
  EXPECT_EQ(text_of("<!DOCTYPE html><title>T</title><h1 class=\"a>b\">One <em>two</em></h1>\n <p>a<br>b<p>c  d\n e"),
            "T\n\n# One two\n\na\nb\n\nc d e");
  EXPECT_EQ(text_of("<ul><li>x</li><li>y</li></ul><pre>a\n  b</pre>c"), "x\n\ny\n\na\n  b\n\nc");
}

TEST(HtmlText, LeavesOutWhatIsNotShown) {
  EXPECT_EQ(text_of("a<script>if (a < b) '</p>' </script>b<!-- c <p> -->d<STYLE>x</Style >e"), "abde");
  EXPECT_EQ(text_of("a<template>b</template><svg><text>c</text></svg>d"), "ad");
}

TEST(HtmlText, DecodesCharacters) {
  EXPECT_EQ(text_of("a &amp; b &lt;c&gt; &#233;&#xE9; &mdash;&nbsp;&hellip;"), "a & b <c> \u00e9\u00e9 \u2014 \u2026");
  EXPECT_EQ(text_of("&unknown; & &; &# &#x; &#xg;"), "&unknown; & &; &# &#x; &#xg;");
  EXPECT_EQ(text_of("&#0;&#xD800;&#x110000;&#99999999999999999999;"), "\ufffd\ufffd\ufffd\ufffd");
}

TEST(HtmlText, KnowsAllNamesOfCharacters) {
  EXPECT_EQ(text_of("M&uuml;nchen, Stra&szlig;e, &frac12;, &alpha; &rarr; &beta;, &CounterClockwiseContourIntegral;"),
            "M\u00fcnchen, Stra\u00dfe, \u00bd, \u03b1 \u2192 \u03b2, \u2233");
  EXPECT_EQ(text_of("&NotEqualTilde;&fjlig;"), "\u2242\u0338fj");  // of two code points
  // The older names need no semicolon, and the longest name counts.
  EXPECT_EQ(text_of("R&amp D, &copy 2024, &eacutet&eacute &notit; &notin;"),
            "R& D, \u00a9 2024, \u00e9t\u00e9 \u00acit; \u2209");
  // Numbers of bytes of windows-1252.
  EXPECT_EQ(text_of("&#147;quoted&#148; it&#146;s 1990&#150;1999, 5&#128; &#x9F;&#65"),
            "\u201cquoted\u201d it\u2019s 1990\u20131999, 5\u20ac \u0178A");
}

TEST(HtmlText, ElementsThatAreNotKnownAreWithinALine) {
  EXPECT_EQ(text_of("<p>super<wbr>cali&shy;fragil</p>"), "supercalifragil");
  EXPECT_EQ(text_of("a <o:p>b</o:p><nobr>c</nobr><strike>d</strike><x-y>e</x-y>"), "a bcde");
  EXPECT_EQ(text_of("<ruby>\u6f22<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>"), "\u6f22(kan)");
}

TEST(HtmlText, LeavesOutHiddenElements) {
  EXPECT_EQ(text_of("a<p hidden>b</p>c"), "a\n\nc");
  EXPECT_EQ(text_of("a<p hidden>b<p>c"), "a\n\nc");  // the end of a paragraph may be left out
  EXPECT_EQ(text_of("<ul><li hidden>a<li>b</ul>"), "b");
  EXPECT_EQ(text_of("<dl><dt hidden>a<dd>b<dt>c</dl>"), "b\n\nc");
  EXPECT_EQ(text_of("<table><tr hidden><td>a<tr><td>b<td hidden>c<td>d</table>e"), "b\n\nd\n\ne");
  EXPECT_EQ(text_of("<div hidden><div>a</div>b</div>c"), "c");
  EXPECT_EQ(text_of("a<span hidden>b<i>c</span>d"), "ad");
  EXPECT_EQ(text_of("<p style='color:red; DISPLAY : none !important'>a</p>b"), "b");
  EXPECT_EQ(text_of("<p style=\"display:no&#110;e\">a</p>b<i style='visibility:hidden'>c</i>"), "b");
  EXPECT_EQ(text_of("<p hidden style='display: block'>a</p><p style='display:none;display:inline'>b"), "a\n\nb");
  EXPECT_EQ(text_of("<p hidden=until-found>a</p><dialog>b</dialog><dialog open>c</dialog>"), "a\n\nc");
  EXPECT_EQ(text_of("a<select><option>b</select>c<video>d</video>e<datalist><option>f</datalist>g"), "aceg");
  EXPECT_EQ(text_of("<body hidden>a"), "a");  // which a script shows
}

TEST(HtmlText, HiddenElementsEndWhereABrowserEndsThem) {
  EXPECT_EQ(text_of("<b hidden>a<p>b</b>c</p>d"), "c\n\nd");  // b is not a part of the paragraph any more
  EXPECT_EQ(text_of("<p><b hidden>a</p><p>b</b>c"), "c");     // and goes on in the next one
  EXPECT_EQ(text_of("<p hidden>a<b>b</p>c</b>"), "c");
  EXPECT_EQ(text_of("<div hidden><span>a</div></span>b"), "b");
  EXPECT_EQ(text_of("<div hidden>a</span></b></x>b</div>c"), "c");             // end tags of nothing
  EXPECT_EQ(text_of("<div hidden><table><td>a</div>b</table>c</div>d"), "d");  // nor of what is outside of a cell
  EXPECT_EQ(text_of("<svg><p>a"), "a");                                        // <p> is none of SVG
  EXPECT_EQ(text_of("<svg><foreignObject><p>a</p></foreignObject></svg>b"), "b");
  EXPECT_EQ(text_of("<svg><title>a</title><style>b</style><![CDATA[</svg>c]]></svg>d"), "d");
  EXPECT_EQ(text_of("<svg/>a<math><mi>x</mi></math>b"), "ab");
  EXPECT_EQ(text_of("<template><div></template>a<noscript><p>b</noscript>c"), "ac");
}

TEST(HtmlText, ReadsTagsAsBrowsersDo) {
  EXPECT_EQ(text_of("<p class=\"a>b\" title='<i>'>c</p>"), "c");
  EXPECT_EQ(text_of("<p a = b/c =d e>f<p/>g</>h</ >i<?x?>j<!y>k"), "f\n\nghijk");
  EXPECT_EQ(text_of("<!-->a<!--->b<!-- c --!>d<!-- -- > -->e"), "abde");
  EXPECT_EQ(text_of("<title>a < b <i>&amp;</title>c"), "a < b <i>&\n\nc");
  EXPECT_EQ(text_of("<textarea><p>&lt;</textarea>a"), "<p><\n\na");
  EXPECT_EQ(text_of("<script><!-- <script>a</script> b --></script>c"), "c");
  EXPECT_EQ(text_of("<script><!-- a </script>b"), "b");
  EXPECT_EQ(text_of("<style>a</styles>b</style>c"), "c");
  EXPECT_EQ(text_of("<xmp>a<b></xmp>c<plaintext>d</plaintext>"), "a<b>\n\nc\n\nd</plaintext>");
  EXPECT_EQ(text_of("a</br>b</p>c"), "a\nb\n\nc");
}

TEST(HtmlText, KeepsTheWhiteSpaceOfPreformattedText) {
  EXPECT_EQ(text_of("x<pre>\n  a\r\n\tb\n</pre>c"), "x\n\n  a\n\tb\n\n\nc");
  EXPECT_EQ(text_of("a\u00a0 b &nbsp;c"), "a b c");
}

TEST(HtmlText, LinesAreThoseOfThePage) {
  const HtmlText page = text_of_html("<p>a\n\n<p\nhidden>b\n</p>\nc<br>d\ne");
  EXPECT_EQ(page.text, "a\n\nc\nd e");
  EXPECT_EQ(page.line_of(0), 1U);
  EXPECT_EQ(page.line_of(3), 6U);
  EXPECT_EQ(page.line_of(7), 7U);
}

TEST(HtmlText, ShowsTheLettersThatATreeShows) {
  const std::string recorded = base::read_text_file(source_folder() / "tests/golden/pages.json");
  const formats::Json pages = formats::parse_json(recorded, "pages.json");
  for (const formats::Json& page : pages.as_array("pages")) {
    const formats::Json::Array& pair = page.as_array("page");
    std::string shown = text_of(pair[0].as_string("page"));
    std::erase_if(shown, [](char c) { return c == '#' || c == ' ' || c == '\n'; });
    EXPECT_EQ(shown, pair[1].as_string("text")) << pair[0].as_string("page");
  }
  EXPECT_EQ(pages.as_array("pages").size(), 450U);
}

TEST(HtmlText, OfDeepNestingTakesLinearTime) {
  // With a tree these would be a crash of a recursive walk, or the square of the number of tags in steps.
  std::string deep, open, hidden;
  for (int i = 0; i < 20000; ++i) deep += "<div>";
  for (int i = 0; i < 20000; ++i) open += "<b a=" + std::to_string(i) + "><p hidden><i>";
  for (int i = 0; i < 20000; ++i) hidden += "<x" + std::to_string(i) + " hidden>";
  EXPECT_EQ(text_of(deep + "a<p hidden>b</p>c"), "a\n\nc");
  EXPECT_EQ(text_of(open + "</p>a"), "a");
  EXPECT_EQ(text_of(hidden + "a"), "");
  EXPECT_EQ(text_of(std::string(100000, '<') + "a"), std::string(100000, '<').substr(1));
}

TEST(HtmlText, TakesAnyBytesForAPage) {
  EXPECT_EQ(text_of("a < b <3 <"), "a < b <3 <");
  EXPECT_EQ(text_of("a<b"), "a");
  EXPECT_EQ(text_of("a<!-- b"), "a");
  EXPECT_EQ(text_of("a<script>b"), "a");
  EXPECT_EQ(text_of(""), "");
}

}  // namespace
}  // namespace alate::search
