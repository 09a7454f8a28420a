// The scripts that shells read. They only ask the program; what may follow is decided in completion.cpp.
#include "apps/alate/help/completion.h"

namespace alate::app {
namespace {

constexpr std::string_view kBash = R"script(# Completion of alate for bash, made by `alate completion bash`.
_alate() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() blank word i
  # COMP_WORDS is broken at ":" and "=": parts without a blank between them belong together.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blank=${rest%%[![:space:]]*}
    rest=${rest#"$blank"}
    word=${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then word=$rest; fi
    rest=${rest#"$word"}
    if ((i == 0)) || [[ -n $blank ]]; then words+=("$word"); else words[-1]+=$word; fi
  done
  local program=${words[0]/#\~/$HOME} answers=()
  mapfile -t answers < <("$program" __complete bash -- "${words[@]:1}" 2>/dev/null)
  case ${answers[0]-} in
    files) ;;
    folders) compopt +o bashdefault +o default -o dirnames ;;
    *) compopt +o bashdefault +o default ;;
  esac
  # Of a broken word, only the part after the last break is replaced.
  local last=${words[-1]} breaks=${COMP_WORDBREAKS//[^:=]/} before=
  if [[ -n $breaks && $last == *["$breaks"]* ]]; then before=${last%"${last##*["$breaks"]}"}; fi
  COMPREPLY=()
  for word in "${answers[@]:1}"; do
    printf -v word %q "${word#"$before"}"
    COMPREPLY+=("$word")
  done
}
complete -o bashdefault -o default -F _alate alate
)script";

constexpr std::string_view kZsh = R"script(#compdef alate
# Completion of alate for zsh, made by `alate completion zsh`.
_alate() {
  local -a answers texts shown
  local answer kind
  answers=("${(@f)$(${~words[1]} __complete zsh -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=$answers[1]
  shift answers
  for answer in "${answers[@]}"; do
    texts+=("${answer%%$'\t'*}")
    shown+=("${answer/$'\t'/  -- }")
  done
  (( $#texts )) && compadd -l -d shown -a texts
  [[ $kind == none ]] && return
  compset -P '--*='
  if [[ $kind == folders ]]; then _files -/; else _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _alate "$@"; else compdef _alate alate; fi
)script";

constexpr std::string_view kFish = R"script(# Completion of alate for fish, made by `alate completion fish`.
function __alate_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l answers ($program __complete fish -- $words "$last" 2>/dev/null)
    set -l kind $answers[1]
    set -e answers[1]
    for answer in $answers
        echo $answer
    end
    switch "$kind"
        case files
            __fish_complete_path "$last"
        case folders
            __fish_complete_directories "$last"
    end
end
complete -c alate -f -a '(__alate_complete)'
)script";

}  // namespace

std::string_view completion_script(std::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : std::string_view();
}

}  // namespace alate::app
