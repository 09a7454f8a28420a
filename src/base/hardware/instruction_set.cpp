#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "alate/error.h"
#include "base/hardware/built_instruction_sets.h"
#include "base/hardware/cpu_facts.h"
#include "base/os/environment.h"

namespace alate::base {
namespace {

// An extension that kernels use beyond a set, named as the processor's feature.
struct Extension {
  std::string_view name;
  InstructionSet set;
};

constexpr std::array kExtensions = {
    Extension{"avx_vnni", InstructionSet::avx2},      Extension{"avx512_vnni", InstructionSet::avx512},
    Extension{"avx512_bf16", InstructionSet::avx512}, Extension{"amx_int8", InstructionSet::avx512},
    Extension{"amx_bf16", InstructionSet::avx512},    Extension{"asimddp", InstructionSet::neon},
    Extension{"i8mm", InstructionSet::neon},
};

constexpr std::array kSets = {InstructionSet::scalar, InstructionSet::neon, InstructionSet::avx2,
                              InstructionSet::avx512};

// ALATE_ISA, parsed: "avx512+amx_bf16-avx512_vnni".
struct Wanted {
  InstructionSet set = InstructionSet::scalar;
  std::vector<std::string_view> added, removed;
};

std::string sets_that_run() {
  std::string names;
  for (const InstructionSet set : runnable_instruction_sets()) {
    if (!names.empty()) names += ", ";
    names += to_string(set);
  }
  return names;
}

// What a processor with the set reports.
std::string_view feature_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::neon: return "asimd";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::avx512: return "avx512f";
    case InstructionSet::scalar: break;
  }
  return {};
}

// REQUIRES: the processor has what `name` names.
void require_built(std::string_view name) {
  if (is_built(name)) return;
  throw make_error(ErrorCode::unsupported, "ALATE_ISA asks for ", name, ", but this program was built with kernels of ",
                   built_instruction_sets(), " only; build it with ALATE_INSTRUCTION_SETS=all");
}

InstructionSet set_named(std::string_view name) {
  const auto* found = std::ranges::find(kSets, name, to_string);
  if (found == kSets.end())
    throw make_error(ErrorCode::invalid_argument, "ALATE_ISA is ", name, "; on this processor it may be ",
                     sets_that_run());
  if (cpu_facts().has(feature_of(*found))) require_built(name);
  if (!can_run(*found)) {
    throw make_error(ErrorCode::unsupported, "ALATE_ISA asks for ", name, ", but this processor has only ",
                     sets_that_run());
  }
  return *found;
}

void check_extension(std::string_view name, InstructionSet set, bool is_added) {
  std::string names;
  for (const Extension& extension : kExtensions) {
    if (extension.set != set) continue;
    if (extension.name == name) {
      if (is_added && !cpu_facts().has(name))
        throw make_error(ErrorCode::unsupported, "ALATE_ISA asks for ", name, ", which this processor lacks");
      if (is_added) require_built(name);
      return;
    }
    if (!names.empty()) names += ", ";
    names += extension.name;
  }
  throw make_error(ErrorCode::invalid_argument, "ALATE_ISA names ", name, ", which is no extension of ", to_string(set),
                   "; it has ", names.empty() ? "none" : names);
}

Wanted take_apart(std::string_view text) {
  constexpr std::string_view kSigns = "+-";
  Wanted wanted;
  std::size_t end = std::min(text.find_first_of(kSigns), text.size());
  wanted.set = set_named(text.substr(0, end));
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    const bool is_added = text[end] == '+';
    end = std::min(text.find_first_of(kSigns, begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    check_extension(name, wanted.set, is_added);
    (is_added ? wanted.added : wanted.removed).push_back(name);
  }
  return wanted;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar: return "scalar";
    case InstructionSet::neon: return "neon";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::avx512: return "avx512";
  }
  return "scalar";
}

bool can_run(InstructionSet set) {
  // Asked for every tile.
  static const auto runnable = [] {
    const InstructionSet best = cpu_facts().best;
    std::array<bool, kSets.size()> can{};
    for (const InstructionSet each : kSets) {
      const bool fits = each == InstructionSet::neon ? best == InstructionSet::neon : each <= best;
      can.at(static_cast<std::size_t>(each)) = fits && is_built(to_string(each));
    }
    return can;
  }();
  return runnable.at(static_cast<std::size_t>(set));
}

std::vector<InstructionSet> runnable_instruction_sets() {
  std::vector<InstructionSet> sets;
  std::ranges::copy_if(kSets, std::back_inserter(sets), can_run);
  return sets;
}

InstructionSet chosen_instruction_set() {
  const std::optional<std::string> text = environment("ALATE_ISA");
  return text ? take_apart(*text).set : cpu_facts().best;
}

bool uses_extension(std::string_view name) {
  const auto* found = std::ranges::find(kExtensions, name, &Extension::name);
  if (found == kExtensions.end() || !cpu_facts().has(name) || !is_built(name)) return false;
  const std::optional<std::string> text = environment("ALATE_ISA");
  return !text || std::ranges::count(take_apart(*text).removed, name) == 0;
}

bool requires_extension(std::string_view name) {
  const std::optional<std::string> text = environment("ALATE_ISA");
  return text && std::ranges::count(take_apart(*text).added, name) != 0;
}

}  // namespace alate::base
