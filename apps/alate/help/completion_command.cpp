// alate completion: the script for a shell; alate __complete: what that script asks.
#include <string>
#include <vector>

#include "apps/alate/arguments.h"
#include "apps/alate/help/completion.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "formats/json.h"

namespace alate::app {
namespace {

std::string_view name_of(PathKind kind) {
  return kind == PathKind::files ? "files" : kind == PathKind::folders ? "folders" : "none";
}

}  // namespace

void run_completion(Arguments& arguments) {
  std::string shell, out;
  arguments.positional("SHELL", true, shell);
  arguments.choices({"bash", "zsh", "fish"});
  arguments.option("--out,-o", "FILE", "write the script there", out);
  if (!arguments.parse()) return;
  const std::string_view script = completion_script(shell);
  if (script.empty())
    throw arguments.usage_error("there is no completion for " + formats::quoted_name(shell) +
                                "; SHELL is bash, zsh or fish");
  Output output(out);
  output.write(script);
  output.finish();
}

// The first line says which paths the shell adds; each other line is a word, for other shells than bash with a tab and
// what it is.
void run_complete(Arguments& arguments) {
  std::string shell;
  std::vector<std::string> words;
  arguments.positional("SHELL", true, shell);
  arguments.positionals("WORD", words);
  if (!arguments.parse()) return;
  const Completions found = complete(words);
  Output output;
  output.write(std::string(name_of(found.paths)) + "\n");
  for (const Candidate& each : found.candidates) {
    output.write(each.text);
    if (shell != "bash" && !each.sentence.empty()) output.write("\t" + each.sentence);
    output.write("\n");
  }
  output.finish();
}

}  // namespace alate::app
