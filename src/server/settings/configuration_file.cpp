#include "server/settings/configuration_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/utf8.h"

namespace alate::server {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxValues = 10'000;
constexpr std::size_t kMaxDepth = 16;

std::string place_of(std::string_view name, std::size_t line, std::size_t column) {
  return std::string(name) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

// Length of the prefix that is UTF-8 without control characters.
std::size_t readable_prefix(std::string_view text) {
  const auto control = static_cast<std::size_t>(std::ranges::find_if(text, is_control) - text.begin());
  return std::min(formats::valid_utf8_prefix(text), control);
}

// Builds the tree from the parser's events, so that nothing is expanded or built twice.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view name) : name_(name) {}

  ConfigurationValue take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(begin(mark, "", anchor, ConfigurationValue::Kind::none));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases (*name) are not read; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    ConfigurationValue value = begin(mark, tag, anchor, ConfigurationValue::Kind::scalar);
    // Escapes can produce characters that the file's bytes cannot; and the parser turns \N and \_ into single bytes.
    if (readable_prefix(text) != text.size())
      fail(mark, "an escape (a backslash in quotes) stands for a control character; write a backslash as \\\\");
    value.text = text;
    add(std::move(value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, begin(mark, tag, anchor, ConfigurationValue::Kind::list));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, begin(mark, tag, anchor, ConfigurationValue::Kind::map));
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that has not ended yet.
  struct Open {
    ConfigurationValue value;
    bool has_key = false;  // for a map: the next value belongs to `key`
    ConfigurationValue key;
    std::set<std::string> keys;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view what) const {
    throw make_error(ErrorCode::invalid_argument, place_of(name_, line_of(mark), column_of(mark)), ": ", what);
  }
  static std::size_t line_of(const YAML::Mark& mark) { return static_cast<std::size_t>(std::max(mark.line, 0)) + 1; }
  static std::size_t column_of(const YAML::Mark& mark) {
    return static_cast<std::size_t>(std::max(mark.column, 0)) + 1;
  }

  ConfigurationValue begin(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor,
                           ConfigurationValue::Kind kind) {
    if (anchor != YAML::NullAnchor) fail(mark, "anchors (&name) are not read; write the value out where it is used");
    // The parser reports "?" and "!" for values without a tag; the others are tags of the core schema.
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (!tag.empty() && tag != "?" && tag != "!" && !tag.starts_with(kCore))
      fail(mark, "tags (!name) are not read; leave it out");
    if (++values_ > kMaxValues) fail(mark, "there are more than " + std::to_string(kMaxValues) + " values");
    ConfigurationValue value;
    value.kind = kind;
    value.line = line_of(mark);
    value.column = column_of(mark);
    return value;
  }

  void open(const YAML::Mark& mark, ConfigurationValue value) {
    if (stack_.size() >= kMaxDepth) fail(mark, "lists and groups are nested too deeply");
    stack_.push_back({.value = std::move(value), .has_key = false, .key = {}, .keys = {}});
  }

  void close() {
    ConfigurationValue value = std::move(stack_.back().value);
    stack_.pop_back();
    add(std::move(value));
  }

  void add(ConfigurationValue value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& top = stack_.back();
    if (top.value.kind == ConfigurationValue::Kind::list) {
      top.value.items.push_back(std::move(value));
    } else if (top.has_key) {
      top.value.members.push_back({std::move(top.key), std::move(value)});
      top.has_key = false;
    } else {
      const std::string place = place_of(name_, value.line, value.column);
      if (value.kind != ConfigurationValue::Kind::scalar)
        throw make_error(ErrorCode::invalid_argument, place, ": a key must be a word");
      if (!top.keys.insert(value.text).second)
        throw make_error(ErrorCode::invalid_argument, place, ": the key ", formats::quoted_name(value.text),
                         " is there twice; leave one out");
      top.key = std::move(value);
      top.has_key = true;
    }
  }

  std::string name_;
  ConfigurationValue root_;
  std::vector<Open> stack_;
  std::size_t values_ = 0;
};

// Rejects bytes that the parser would take for another encoding, or that would reach a terminal when quoted in an
// error.
void check_bytes(std::string_view text, std::string_view name) {
  const std::size_t end = readable_prefix(text);
  if (end == text.size()) return;
  const auto line =
      static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  throw make_error(ErrorCode::invalid_argument, name, ":", line + 1,
                   is_control(text[end]) ? ": there is a control character" : ": this is no UTF-8");
}

}  // namespace

std::string_view ConfigurationValue::kind_name() const {
  switch (kind) {
    case Kind::none: return "nothing";
    case Kind::scalar: return "a value";
    case Kind::list: return "a list";
    case Kind::map: return "a group of keys";
  }
  return "";
}

std::string ConfigurationFile::place(const ConfigurationValue& value) const {
  return place_of(name, value.line, value.column);
}

ConfigurationFile parse_configuration(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBytes)
    throw make_error(ErrorCode::invalid_argument, name, " has more than 1 MiB; this is no configuration file");
  check_bytes(text, name);
  ConfigurationFile file;
  file.name = name;
  TreeBuilder builder(name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(builder)) {
      file.root = builder.take_root();
      TreeBuilder further(name);
      if (parser.HandleNextDocument(further))
        throw make_error(ErrorCode::invalid_argument, name, " has more than one document (---); write one");
    }
  } catch (const YAML::Exception& error) {
    const auto line = static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1;
    const auto column = static_cast<std::size_t>(std::max(error.mark.column, 0)) + 1;
    throw make_error(ErrorCode::invalid_argument, place_of(name, line, column), ": this is no YAML: ", error.msg);
  }
  if (file.root.kind != ConfigurationValue::Kind::map && file.root.kind != ConfigurationValue::Kind::none)
    throw make_error(ErrorCode::invalid_argument, file.place(file.root), ": the file is ", file.root.kind_name(),
                     "; it must have keys, one a line: \"port: 11433\"");
  return file;
}

ConfigurationFile read_configuration(const std::filesystem::path& path) {
  std::string text;
  try {
    text = base::read_text_file(path, kMaxBytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::resource_exhausted) throw error.with_context("reading the configuration");
    throw make_error(ErrorCode::invalid_argument, path.string(), " has more than 1 MiB; this is no configuration file");
  }
  ConfigurationFile file = parse_configuration(text, path.string());
  file.lenient = path.filename() == "termite.yaml" || path.filename() == "termite.yml";
  return file;
}

}  // namespace alate::server
