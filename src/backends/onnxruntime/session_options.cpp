#include "backends/onnxruntime/session_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <span>

#include "alate/error.h"

namespace alate::onnxruntime {
namespace {

constexpr std::string_view kWhat = "preparing onnx";

struct Word {
  std::string_view word;
  int number;
};
constexpr std::array<Word, 8> kLevels{{{"0", abi::kNoOptimizations},
                                       {"disabled", abi::kNoOptimizations},
                                       {"1", abi::kBasicOptimizations},
                                       {"basic", abi::kBasicOptimizations},
                                       {"2", abi::kExtendedOptimizations},
                                       {"extended", abi::kExtendedOptimizations},
                                       {"99", abi::kAllOptimizations},
                                       {"all", abi::kAllOptimizations}}};
constexpr std::array<Word, 4> kModes{{{"sequential", abi::kSequentialExecution},
                                      {"0", abi::kSequentialExecution},
                                      {"parallel", abi::kParallelExecution},
                                      {"1", abi::kParallelExecution}}};

int number_of(std::string_view key, const std::string& value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < 0)
    throw make_error(ErrorCode::invalid_argument, "session option ", key, " is '", value,
                     "': it is a number from 0 on");
  return number;
}

// A model may ask for fewer threads than the caller allows, not for more; 0 means all of them.
int allowed_threads(std::string_view key, const std::string& value, std::size_t allowed) {
  const int asked = number_of(key, value), most = static_cast<int>(std::min<std::size_t>(allowed, INT_MAX));
  return asked == 0 ? most : std::min(asked, most);
}

int word_of(std::string_view key, const std::string& value, std::span<const Word> words) {
  std::string all;
  for (const Word& row : words) {
    if (row.word == value) return row.number;
    all += (all.empty() ? "" : ", ") + std::string(row.word);
  }
  throw make_error(ErrorCode::invalid_argument, "session option ", key, " is '", value, "': it is one of ", all);
}

}  // namespace

void set_entry(const Library& library, abi::SessionOptions* options, const char* key, const char* value) {
  library.check<abi::AddSessionConfigEntry>("session option " + std::string(key), options, key, value);
}

OwnedSessionOptions make_session_options(const Library& library, std::size_t threads, const GivenOptions& given) {
  abi::SessionOptions* made = nullptr;
  library.check<abi::CreateSessionOptions>(kWhat, &made);
  OwnedSessionOptions options = library.own<abi::ReleaseSessionOptions>(made);
  library.check<abi::SetSessionGraphOptimizationLevel>(kWhat, made, abi::kAllOptimizations);
  library.check<abi::SetIntraOpNumThreads>(kWhat, made, static_cast<int>(threads));
  set_entry(library, made, "session.intra_op.allow_spinning", "0");
  set_entry(library, made, "session.inter_op.allow_spinning", "0");
  for (const auto& [key, value] : given) {
    if (key == "intra_op_num_threads") {
      library.check<abi::SetIntraOpNumThreads>(kWhat, made, allowed_threads(key, value, threads));
    } else if (key == "inter_op_num_threads") {
      library.check<abi::SetInterOpNumThreads>(kWhat, made, allowed_threads(key, value, threads));
    } else if (key == "graph_optimization_level") {
      library.check<abi::SetSessionGraphOptimizationLevel>(kWhat, made, word_of(key, value, kLevels));
    } else if (key == "execution_mode") {
      library.check<abi::SetSessionExecutionMode>(kWhat, made, word_of(key, value, kModes));
    } else {
      set_entry(library, made, key.c_str(), value.c_str());
    }
  }
  return options;
}

}  // namespace alate::onnxruntime
