#include "server/page/docs_page.h"

#include <openssl/sha.h>

#include <array>
#include <span>
#include <string>

#include "formats/base64.h"
#include "server/page/docs_page_texts.h"  // made of this folder's .js and .css by the build

namespace alate::server {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="base-path" content=")";

constexpr std::string_view kBody = R"(<header>
<h1>Alate<small id="version"></small></h1>
<p id="about" class="soft"></p>
<div class="bar">
<label>Filter<input id="filter" type="search" autocomplete="off"></label>
<label id="key-label" hidden>API key, kept in this page alone<input id="key" type="password" autocomplete="off"></label>
</div>
<nav id="families" aria-label="Families of routes"></nav>
<p id="nothing" class="soft" role="status"></p>
</header>
<main id="routes"><p class="soft">Loading the routes.</p><noscript><p>This page needs scripts; /openapi.json says the
same.</p></noscript></main>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// The CSP source expression that allows exactly this inline text: https://www.w3.org/TR/CSP3/#grammardef-hash-source
std::string hash_source(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string out = "'sha256-";
  formats::append_base64(out, std::as_bytes(std::span(digest)));
  return out += '\'';
}

std::string script() { return std::string(kDocsScript) + std::string(kDocsAnswers); }

std::string security_policy() {
  return "default-src 'none'; script-src " + hash_source(script()) + "; style-src " + hash_source(kDocsStyle) +
         "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

std::string page(std::string_view base_path) {
  std::string out(kHead);
  out += escaped(base_path);
  out += "\">\n<title>Alate: routes</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>";
  out += kDocsStyle;
  out += "</style>\n</head>\n<body>\n";
  out += kBody;
  out += "<footer>Made from <a href=\"" + escaped(base_path) + "/openapi.json\">openapi.json</a>.</footer>\n<script>";
  out += script();
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace

Response docs_page(std::string_view base_path) {
  Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers.add("Content-Security-Policy", security_policy());
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  response.body = page(base_path);
  return response;
}

}  // namespace alate::server
