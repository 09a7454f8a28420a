// An ONNX file run through the onnx backend, and through ONNX Runtime directly, alternately in one process: the
// overhead of the backend. Prints the processor time of one run of each, and the ratio.
//
//     bench_peers_onnx MODEL.onnx [LENGTH [THREADS [PAIRS]]]
//
// The model must be an encoder with i64 inputs [batch, length]. Both get the same options, with thread spinning
// disabled.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/value.h"
#include "backends/registry.h"

namespace {

using namespace alate;
using namespace alate::onnxruntime;

// ONNX Runtime's plain Run function, which the backend does not use.
using Run = abi::Function<9, abi::Status*(abi::Session*, const abi::RunOptions*, abi::Strings input_names,
                                          const abi::Value* const* inputs, std::size_t input_count,
                                          abi::Strings output_names, std::size_t output_count, abi::Value** outputs)>;

constexpr int kRunsOfASample = 8;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double sample(const std::function<void()>& run) {
  const double begin = processor_seconds();
  for (int i = 0; i < kRunsOfASample; ++i) run();
  return (processor_seconds() - begin) / kRunsOfASample;
}

Tensor input_of(const std::string& name, std::int64_t length) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(length), name == "attention_mask" ? 1 : 0);
  if (name == "input_ids") {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 + static_cast<std::int64_t>(i * 37 % 20000);
  }
  return Tensor::from<std::int64_t>({1, length}, std::span<const std::int64_t>(values));
}

struct Direct {
  Direct(const Library& of, const char* file, std::size_t threads)
      : library(of), session(of.own<abi::ReleaseSession>(static_cast<abi::Session*>(nullptr))) {
    const OwnedSessionOptions options = make_session_options(library, threads, {});
    abi::Session* made = nullptr;
    library.check<abi::CreateSession>("opening", static_cast<const abi::Env*>(library.environment()),
                                      std::filesystem::path(file).c_str(),
                                      static_cast<const abi::SessionOptions*>(options.get()), &made);
    session = library.own<abi::ReleaseSession>(made);
  }

  Tensor run(const std::vector<Tensor>& inputs, const std::vector<const char*>& names, const char* output) const {
    std::vector<OwnedValue> values;
    std::vector<const abi::Value*> pointers;
    for (const Tensor& input : inputs) {
      values.push_back(value_over(library, input));
      pointers.push_back(values.back().get());
    }
    abi::Value* result = nullptr;
    library.check<Run>("running", session.get(), static_cast<const abi::RunOptions*>(nullptr), names.data(),
                       pointers.data(), pointers.size(), &output, std::size_t{1}, &result);
    return tensor_of(library, library.own<abi::ReleaseValue>(result));
  }

  const Library& library;
  Owned<abi::Session> session;
};

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void compare(const char* file, std::int64_t length, std::size_t threads, int pairs) {
  const backends::LibrarySearch search = find_libraries();
  if (search.found.empty())
    throw make_error(ErrorCode::unavailable, "ONNX Runtime was not found in ", search.looked_in);
  const auto library = Library::open(search.found.front());
  const Direct direct(*library, file, threads);
  const auto ours = backends::get_backend("onnx").open({file}, {.max_workers = threads});
  std::vector<Tensor> inputs;
  std::vector<const char*> names;
  for (const backends::Port& port : ours->inputs()) {
    inputs.push_back(input_of(port.name, length));
    names.push_back(port.name.c_str());
  }
  const std::vector<backends::Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<backends::Buffer> outputs(ours->outputs().size());
  const auto run_ours = [&] {
    for (backends::Buffer& output : outputs) output = {};
    ours->run(buffers, outputs, {.cancellation = alate::base::Cancellation::never()});
  };
  Tensor wanted;
  const auto run_direct = [&] { wanted = direct.run(inputs, names, ours->outputs()[0].name.c_str()); };
  run_ours();
  run_direct();
  if (!std::ranges::equal(wanted.bytes(), backends::host_tensor(outputs[0]).bytes()))
    throw Error(ErrorCode::internal, "the results differ");
  std::vector<double> ours_seconds, direct_seconds, ratios;
  for (int i = 0; i < pairs; ++i) {
    std::array<double, 2> seconds{};
    for (const int which : {i % 2, 1 - i % 2})
      seconds[static_cast<std::size_t>(which)] = which == 0 ? sample(run_ours) : sample(run_direct);
    ours_seconds.push_back(seconds[0]);
    direct_seconds.push_back(seconds[1]);
    ratios.push_back(seconds[0] / seconds[1]);
  }
  std::printf("ONNX Runtime %s, 1x%lld, %zu threads, %d pairs of %d runs\n", library->version().c_str(),
              static_cast<long long>(length), threads, pairs, kRunsOfASample);
  std::printf("alate  %8.3f ms of processor\ndirect %8.3f ms of processor\n", quantile(ours_seconds, 0.5) * 1e3,
              quantile(direct_seconds, 0.5) * 1e3);
  std::printf("ratio  %.3f [%.3f..%.3f: quarters, %.3f..%.3f: all]\n", quantile(ratios, 0.5), quantile(ratios, 0.25),
              quantile(ratios, 0.75), quantile(ratios, 0), quantile(ratios, 1));
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int place, int otherwise) { return count > place ? std::atoi(arguments[place]) : otherwise; };
  if (count < 2) {
    std::fprintf(stderr, "usage: bench_peers_onnx MODEL.onnx [LENGTH [THREADS [PAIRS]]]\n");
    return 2;
  }
  try {
    compare(arguments[1], number(2, 128), static_cast<std::size_t>(number(3, 1)), number(4, 30));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_peers_onnx: %s\n", error.what());
    return 1;
  }
  return 0;
}
