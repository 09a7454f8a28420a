#include "hub/install/package_index.h"

#include <algorithm>

#include "alate/error.h"
#include "base/os/environment.h"
#include "formats/json.h"
#include "hub/http/https_download.h"
#include "hub/install/pip_configuration.h"

namespace alate::hub {
namespace {

constexpr std::string_view kJson = "application/vnd.pypi.simple.v1+json";

// A member of an entry of the list of files; empty if it is absent.
std::string text_of(const formats::Json& entry, std::string_view key) {
  const formats::Json* value = entry.find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string())
    throw make_error(ErrorCode::corrupt, "the package index's page lists a file whose ", key, " is ", value->kind(),
                     " where a string is expected");
  return value->as_string(key);
}

std::string reference_in_json(std::string_view page, std::string_view file) {
  const formats::Json index = formats::parse_json(page, "the package index's page");
  const formats::Json* files = index.find("files");
  if (files == nullptr || !files->is_array())
    throw Error(ErrorCode::corrupt, "the package index's page has no list of files");
  for (const formats::Json& each : files->as_array("files")) {
    if (text_of(each, "filename") == file) return text_of(each, "url");
  }
  return {};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The file name at the end of a reference's path.
std::string_view name_in(std::string_view reference) {
  reference = reference.substr(0, reference.find_first_of("?#"));
  return reference.substr(reference.rfind('/') + 1);
}

// Links are `<a href="…/NAME.whl#sha256=…">`; names of wheels need no escaping.
std::string reference_in_html(std::string_view page, std::string_view file) {
  for (std::size_t at = 0; (at = page.find("href", at)) != std::string_view::npos;) {
    at = page.find_first_not_of(" \t\r\n=", at + 4);
    if (at == std::string_view::npos) break;
    const char quote = page[at];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t end = page.find(quote, at + 1);
    if (end == std::string_view::npos) break;
    std::string reference(page.substr(at + 1, end - at - 1));
    replace_all(reference, "&amp;", "&");
    replace_all(reference, "%2B", "+");
    if (name_in(reference) == file) return reference;
    at = end;
  }
  return {};
}

}  // namespace

std::string package_index() {
  if (const std::optional<std::string> index = base::environment("ALATE_PACKAGE_INDEX")) return *index;
  if (const std::optional<std::string> index = base::environment("PIP_INDEX_URL")) return *index;
  return pip_index_url().value_or("https://pypi.org/simple");
}

std::string file_reference(std::string_view page, std::string_view content_type, std::string_view file) {
  return content_type.starts_with(kJson) ? reference_in_json(page, file) : reference_in_html(page, file);
}

HttpUrl find_package_file(const std::string& index, std::string_view project, std::string_view file) {
  HttpUrl url = parse_http_url(index);
  while (url.target.ends_with('/')) url.target.pop_back();
  url.target += "/" + std::string(project) + "/";
  const DownloadedText page =
      download_text(url, {.max_bytes = std::uint64_t{64} << 20, .accept = std::string(kJson) + ", text/html;q=0.5"});
  const std::string reference = file_reference(page.text, page.facts.content_type, file);
  if (reference.empty())
    throw make_error(ErrorCode::not_found, "the package index at ", url.shown(), " has no ", file,
                     ": set ALATE_PACKAGE_INDEX to one that has it, or name the file with --from");
  return resolve_http_url(page.facts.url, reference);
}

}  // namespace alate::hub
