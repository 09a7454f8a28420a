// Settings of runtimes that a model's folder may choose. Whoever wrote the folder is a stranger: what names a file,
// loads code, switches checks off or takes what the machine does not have is for the user of the program to say.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace alate::backends {

enum class OptionKind {
  flag,     // "0" or "1"
  boolean,  // "false" or "true"
  number,   // from `least` to `most`
  word,     // one of `words`
};

struct SessionOptionRule {
  std::string_view backend;  // that the key is for
  std::string_view key;
  OptionKind kind = OptionKind::flag;
  std::int64_t least = 0, most = 0;
  std::string_view words = {};  // with blanks between them
};

using SessionOptions = std::map<std::string, std::string, std::less<>>;

/// All that may be set. They choose how fast a model runs; some also how it rounds.
std::span<const SessionOptionRule> session_option_rules();

/// `text` as the runtime spells it: flags and booleans may be written as either. Throws corrupt, naming the key and
/// what it may be, for a key without a rule or another value. The backend's other keys are named where one is near.
std::string checked_session_option(std::string_view key, std::string_view text);

/// Of options that were checked, those for a backend; a backend without rules gets all, and passes over what it does
/// not know.
SessionOptions session_options_for(std::string_view backend, const SessionOptions& options);

}  // namespace alate::backends
