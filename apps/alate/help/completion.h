// What may follow on a command line, from the same descriptions as the help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alate::app {

/// A word that may stand at the cursor.
struct Candidate {
  std::string text;
  std::string sentence = {};  // what it is; may be empty
};

enum class PathKind { none, files, folders };

struct Completions {
  std::vector<Candidate> candidates = {};
  PathKind paths = PathKind::none;  // the shell adds such paths by itself
};

/// `words` follow the program's name; the last one, perhaps empty, is being typed. Models are listed from the models
/// directory that the words, the environment or the configuration name, and from those installed with the program.
/// Candidates begin with the last word. Does not throw for broken configurations and unreadable folders: then there are
/// fewer candidates.
Completions complete(const std::vector<std::string>& words);

/// The script that makes a shell ask `alate __complete SHELL -- WORD...`; empty for an unknown shell.
std::string_view completion_script(std::string_view shell);

}  // namespace alate::app
