// The allow-list of runtime settings that a model's folder may choose. The folder's author is not trusted: settings
// that name a file, load code, switch checks off or take resources beyond the machine's are left to the program's user.
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
  std::string_view words = {};  // separated by blanks
};

using SessionOptions = std::map<std::string, std::string, std::less<>>;

/// All settings that are allowed. They affect how fast a model runs; some also affect rounding.
std::span<const SessionOptionRule> session_option_rules();

/// `text` as the runtime spells it; flags and booleans may be written in either form. Throws corrupt for a key without
/// a rule or a value that the rule does not allow, naming the key and the allowed values. For an unknown key that is
/// close to one with a rule, the message names that one.
std::string checked_session_option(std::string_view key, std::string_view text);

/// The checked options that are for a backend. A backend without rules gets all of them, and ignores those it does not
/// know.
SessionOptions session_options_for(std::string_view backend, const SessionOptions& options);

}  // namespace alate::backends
