#include "apps/alate/help/manual_page.h"

#include <algorithm>
#include <string_view>

#include "apps/alate/exit_codes.h"
#include "apps/alate/help/text_columns.h"
#include "apps/alate/help/verb_help.h"
#include "apps/alate/program_version.h"

namespace alate::app {
namespace {

// Text as the formatter prints it unchanged: a backslash, and a dot at the start of a line, are its commands, and
// quotes and a plain "-" may become characters that cannot be copied into a shell.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '.' && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c;
    }
  }
  return out;
}

// A paragraph, in lines of the length that checkers of such pages want.
std::string flowing(std::string_view text) { return escaped(wrapped(text, 0, 0, 70)) + "\n"; }

std::string paragraph(std::string_view text) { return ".PP\n" + flowing(text); }

std::string synopsis_of(const Verb& verb) {
  const std::string name = "\\fBalate " + escaped(verb.name) + "\\fR";
  return verb.synopsis.empty() ? name + "\n" : name + " " + escaped(verb.synopsis) + "\n";
}

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n\\fB" + escaped(tag) + "\\fR\n" + flowing(text);
}

std::string heading(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return ".TH " + upper + " 1 \"\" \"Alate " + std::string(program_version()) + "\" \"Alate manual\"\n";
}

std::string name_section(std::string_view name, std::string_view sentence) {
  return ".SH NAME\n" + escaped(name) + " \\- " + escaped(sentence) + "\n";
}

// "\fB-o\fR, \fB--out\fR \fIFILE\fR"
std::string option_tag(const DescribedOption& option) {
  std::string tag;
  for (const std::string& name : {option.letter, option.name, option.negative}) {
    if (!name.empty()) tag += (tag.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
  }
  return option.value.empty() ? tag : tag + " \\fI" + escaped(option.value) + "\\fR";
}

std::string options_section(const VerbDescription& description) {
  std::string text;
  for (const DescribedGroup& group : description.groups) {
    std::string rows;
    for (const DescribedOption& option : group.options) {
      if (option.is_listed()) rows += ".TP\n" + option_tag(option) + "\n" + flowing(option.sentence);
    }
    if (!rows.empty()) text += ".SS " + escaped(group.title) + "\n" + rows;
  }
  return ".SH OPTIONS\n" + flowing(options_everywhere()) + text;
}

std::string exit_section() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitCodeMeaning& meaning : exit_code_meanings())
    text += tagged(std::to_string(meaning.code), meaning.sentence);
  return text;
}

std::string examples_section(const Verb& verb) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view line : example_lines(verb)) text += escaped(line) + "\n";
  return verb.example.empty() ? "" : text + ".fi\n";
}

}  // namespace

std::string manual_page() {
  std::string text = heading("alate") + name_section("alate", "runs open models on this machine") +
                     ".SH SYNOPSIS\n\\fBalate\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH COMMANDS\n";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    text +=
        ".TP\n" + synopsis_of(verb) + escaped(verb.sentence) + "; see\n\\fBalate\\-" + escaped(verb.name) + "\\fR(1)\n";
  }
  return text + ".SH MODELS\n" +
         flowing(
             "MODEL is the path of a model's folder, the name of a model in the models directory, or "
             "builtin:minilm, which comes with the program.") +
         ".SH OPTIONS\n" + flowing(options_everywhere()) + exit_section() + ".SH FILES\n" +
         tagged("~/.config/alate/alate.yaml", "settings; $XDG_CONFIG_HOME is respected") +
         tagged("~/.cache/alate", "models in models/, fetched runtimes in runtimes/; ALATE_HOME names another folder");
}

std::string manual_page_of(const VerbDescription& description) {
  const Verb& verb = *description.verb;
  const std::string name = "alate-" + std::string(verb.name);
  std::string text = heading(name) + name_section(name, verb.sentence) + ".SH SYNOPSIS\n" + synopsis_of(verb);
  if (!verb.details.empty()) text += ".SH DESCRIPTION\n" + flowing(verb.details);
  text += options_section(description);
  for (const DescribedNames& names : description.names) {
    text += ".SS " + escaped(names.title) + "\n";
    for (const auto& [row, sentence] : names.rows) text += tagged(row, sentence);
  }
  for (const std::string& note : description.notes) text += paragraph(note);
  if (const std::string note = model_note(description); !note.empty()) text += paragraph(note);
  return text + exit_section() + examples_section(verb) + ".SH SEE ALSO\n\\fBalate\\fR(1)\n";
}

}  // namespace alate::app
