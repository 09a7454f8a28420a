// Command-line arguments of one verb: declared, then parsed into the verb's variables, or only described.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "verb.h"
#include "verb_description.h"

namespace alate::app {

/// Declare everything, then call `parse`, which writes the targets; they must live until then. An option --some-name
/// that is not given takes its value from the environment variable ALATE_SOME_NAME. A verb does nothing before `parse`
/// but declare: so its help, its manual page and shell completion are made by running it until then.
class Arguments {
 public:
  Arguments(const Verb& verb, std::vector<std::string> arguments);
  /// Only records what is declared: `parse` returns false.
  explicit Arguments(const Verb& verb);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  const Verb& verb() const { return verb_; }
  /// The first argument as it was given, if there is one: of a verb that means another thing by it.
  std::optional<std::string> first() const;
  /// Whether what is declared is only recorded.
  bool is_described() const;

  /// A positional argument; `required` ones must be declared first.
  void positional(std::string_view name, bool required, std::string& target);
  /// All remaining positional arguments.
  void positionals(std::string_view name, std::vector<std::string>& target);

  /// `names` is "--name", "--name,-n" or "--name,!--no-name", where the last means false.
  void flag(std::string_view names, std::string_view sentence, bool& target);
  void flag(std::string_view names, std::string_view sentence, std::optional<bool>& target);

  /// `name` is "--name" or "--name,-n"; `value` is the placeholder in the help: FILE and DIR complete to such paths. If
  /// an option is given more than once, the last value wins.
  void option(std::string_view name, std::string_view value, std::string_view sentence, std::string& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::optional<std::string>& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence, std::size_t& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::optional<std::size_t>& target);
  /// `read` gets the value and throws alate::Error if it is invalid; the option's name is prepended to its message.
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::function<void(std::string_view)> read);
  /// One of a few values, which the help lists before the sentence; others are refused with the list. `read` gets the
  /// value.
  void one_of(std::string_view name, std::string_view value, std::string_view sentence, std::vector<std::string> values,
              std::function<void(std::string_view)> read);
  /// Another name of the option declared last, accepted but not listed.
  void former_name(std::string_view name);
  /// An empty value of the argument declared last is refused: leaving it out means something else.
  void refuse_empty();
  /// The usual values of the argument or option declared last, where others may be valid, for completion. A function is
  /// called only then.
  void choices(std::initializer_list<std::string_view> values);
  void choices(const std::function<std::vector<std::string>()>& values);
  /// May be given several times, each time with one value.
  void repeated(std::string_view name, std::string_view value, std::string_view sentence,
                std::vector<std::string>& target);
  /// May be given several times, each time with one value or a list of them (base::split_list).
  void list(std::string_view name, std::string_view value, std::string_view sentence, std::vector<std::string>& target);

  /// An option interpreted elsewhere: only the values from the command line, in order. Without `value` it is a flag,
  /// whose value is "true".
  void raw(std::string_view name, std::string_view value, std::string_view sentence,
           std::optional<std::vector<std::string>>& given);

  /// Values of an option from a configuration, and their origin.
  struct Configured {
    std::vector<std::string> values;
    std::string origin;  // for errors, in place of the option's name
  };
  /// Called for each option set neither on the command line nor by a variable, in order of declaration, after all
  /// others have been read.
  void fall_back_on(std::function<std::optional<Configured>(std::string_view option)> look_up);

  /// Starts a group of options in the help.
  void group(std::string_view title);
  /// Adds a list of names, each with a sentence, to the help.
  void names(std::string_view title, std::vector<std::pair<std::string, std::string>> rows);
  /// Adds a paragraph to the help.
  void note(std::string_view text);

  /// False if only help or the version was requested (it has been printed), or a description: the verb is done.
  /// Throws invalid_argument, ending with a pointer to the verb's help, for invalid arguments.
  bool parse();

  /// An invalid_argument error that ends with a pointer to the verb's help.
  Error usage_error(std::string_view message) const;

  const VerbDescription& description() const;

 private:
  struct State;
  DescribedOption& record(DescribedOption option);
  void refuse_unknown() const;
  void read_configured(const std::string& option,
                       const std::function<void(const std::vector<std::string>&)>& read) const;

  const Verb& verb_;
  std::unique_ptr<State> state_;
};

}  // namespace alate::app
