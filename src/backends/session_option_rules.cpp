#include "backends/session_option_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "alate/error.h"
#include "base/nearest_name.h"
#include "base/split_text.h"

namespace alate::backends {
namespace {

// More threads than this are a mistake on any machine; a session never gets more than the caller allows it.
constexpr std::int64_t kMostThreads = 1024;
constexpr std::size_t kShownBytes = 64;

// ONNX Runtime: include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h, and functions of its C
// interface. XLA: xla/xla.proto, DebugOptions.
constexpr std::array kRules = std::to_array<SessionOptionRule>({
    {"onnx", "intra_op_num_threads", OptionKind::number, 0, kMostThreads},
    {"onnx", "inter_op_num_threads", OptionKind::number, 0, kMostThreads},
    {"onnx", "graph_optimization_level", OptionKind::word, 0, 0, "0 1 2 99 disabled basic extended all"},
    {"onnx", "execution_mode", OptionKind::word, 0, 0, "0 1 sequential parallel"},
    {"onnx", "session.disable_prepacking", OptionKind::flag},
    {"onnx", "session.intra_op.allow_spinning", OptionKind::flag},
    {"onnx", "session.inter_op.allow_spinning", OptionKind::flag},
    {"onnx", "session.force_spinning_stop", OptionKind::flag},
    {"onnx", "session.dynamic_block_base", OptionKind::number, 0, 64},
    {"onnx", "session.disable_quant_qdq", OptionKind::flag},
    {"onnx", "session.disable_double_qdq_remover", OptionKind::flag},
    {"onnx", "session.enable_quant_qdq_cleanup", OptionKind::flag},
    {"onnx", "session.qdq_matmulnbits_accuracy_level", OptionKind::number, 0, 4},
    {"onnx", "session.disable_aot_function_inlining", OptionKind::flag},
    {"onnx", "optimization.enable_gelu_approximation", OptionKind::flag},
    {"onnx", "optimization.enable_cast_chain_elimination", OptionKind::flag},
    {"onnx", "mlas.enable_gemm_fastmath_arm64_bfloat16", OptionKind::flag},
    {"xla", "xla_backend_optimization_level", OptionKind::number, 0, 3},
    {"xla", "xla_allow_excess_precision", OptionKind::boolean},
    {"xla", "xla_cpu_enable_fast_math", OptionKind::boolean},
    {"xla", "xla_cpu_enable_fast_min_max", OptionKind::boolean},
    {"xla", "xla_cpu_fast_math_honor_nans", OptionKind::boolean},
    {"xla", "xla_cpu_fast_math_honor_infs", OptionKind::boolean},
    {"xla", "xla_cpu_fast_math_honor_division", OptionKind::boolean},
    {"xla", "xla_cpu_fast_math_honor_functions", OptionKind::boolean},
    {"xla", "xla_gpu_enable_fast_min_max", OptionKind::boolean},
    {"xla", "xla_gpu_enable_triton_gemm", OptionKind::boolean},
    {"xla", "xla_gpu_autotune_level", OptionKind::number, 0, 4},
});

// A name from a file, for a one-line message.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShownBytes));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return out + (text.size() > kShownBytes ? "…" : "");
}

[[noreturn]] void refuse(const SessionOptionRule& rule, std::string_view text, std::string_view allowed) {
  throw make_error(ErrorCode::corrupt, "session option ", rule.key, " is '", shown(text), "': it is ", allowed);
}

std::string truth(const SessionOptionRule& rule, std::string_view text, const char* no, const char* yes) {
  if (text == "0" || text == "false") return no;
  if (text == "1" || text == "true") return yes;
  refuse(rule, text, std::string(no) + " or " + yes);
}

std::string number(const SessionOptionRule& rule, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < rule.least || value > rule.most)
    refuse(rule, text, "a number from " + std::to_string(rule.least) + " to " + std::to_string(rule.most));
  return std::to_string(value);
}

std::string word(const SessionOptionRule& rule, std::string_view text) {
  const std::vector<std::string_view> words = base::split_text(rule.words, ' ');
  if (std::ranges::find(words, text) == words.end()) refuse(rule, text, "one of " + std::string(rule.words));
  return std::string(text);
}

[[noreturn]] void refuse_key(std::string_view key) {
  std::vector<std::string_view> known;
  for (const SessionOptionRule& rule : kRules) known.push_back(rule.key);
  const std::string hint = base::did_you_mean(key, known);
  throw make_error(ErrorCode::corrupt, "session option '", shown(key),
                   "' is none that a model's folder may set, which are settings of speed that name no file and load no "
                   "code",
                   hint.empty() ? "; take it out of the manifest" : hint);
}

}  // namespace

std::span<const SessionOptionRule> session_option_rules() { return kRules; }

std::string checked_session_option(std::string_view key, std::string_view text) {
  const auto* const rule = std::ranges::find(kRules, key, &SessionOptionRule::key);
  if (rule == kRules.end()) refuse_key(key);
  switch (rule->kind) {
    case OptionKind::flag: return truth(*rule, text, "0", "1");
    case OptionKind::boolean: return truth(*rule, text, "false", "true");
    case OptionKind::number: return number(*rule, text);
    case OptionKind::word: return word(*rule, text);
  }
  throw Error(ErrorCode::internal, "a rule of session options has no kind");
}

SessionOptions session_options_for(std::string_view backend, const SessionOptions& options) {
  if (std::ranges::find(kRules, backend, &SessionOptionRule::backend) == kRules.end()) return options;
  SessionOptions own;
  for (const auto& [key, value] : options) {
    const auto* const rule = std::ranges::find(kRules, key, &SessionOptionRule::key);
    if (rule != kRules.end() && rule->backend == backend) own.emplace(key, value);
  }
  return own;
}

}  // namespace alate::backends
