// Convolutions of ResNet-50 and MobileNet on the cpu backend and in oneDNN, measured alternately on the same machine:
// best time of each, and the backend's speed as a fraction of oneDNN's.
// For the backend, only the convolution step is timed, in the run's memory, as within a model.
//   bench_peers_conv [ROUNDS [THREADS [NAME]]]    set OMP_NUM_THREADS to the same number for oneDNN; NAME: only forms
//                                                 whose name contains it
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"

namespace {

using alate::DType;
using alate::Tensor;
using Clock = std::chrono::steady_clock;

struct Form {
  const char* name;
  std::int64_t channels, outputs, size, window, stride, groups;
};

constexpr Form kForms[] = {
    {"resnet 7x7/2 3-64 224", 3, 64, 224, 7, 2, 1},       {"resnet 1x1 64-256 56", 64, 256, 56, 1, 1, 1},
    {"resnet 3x3 64-64 56", 64, 64, 56, 3, 1, 1},         {"resnet 3x3/2 128-128 56", 128, 128, 56, 3, 2, 1},
    {"resnet 3x3 256-256 14", 256, 256, 14, 3, 1, 1},     {"resnet 3x3 512-512 7", 512, 512, 7, 3, 1, 1},
    {"resnet 1x1 2048-512 7", 2048, 512, 7, 1, 1, 1},     {"mobilenet dw 3x3 32 112", 32, 32, 112, 3, 1, 32},
    {"mobilenet dw 3x3/2 96 112", 96, 96, 112, 3, 2, 96}, {"mobilenet 1x1 16-96 112", 16, 96, 112, 1, 1, 1},
    {"mobilenet dw 3x3 384 14", 384, 384, 14, 3, 1, 384}, {"mobilenet 1x1 320-1280 7", 320, 1280, 7, 1, 1, 1},
};

Tensor values(std::vector<std::int64_t> extents) {
  alate::Shape shape{DType::f32, {}};
  for (const std::int64_t extent : extents) shape.dims.emplace_back(extent);
  Tensor tensor = Tensor::zeros(shape);
  unsigned state = 1;
  for (float& value : tensor.mutable_values<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) * 0x1p-24F - 0.5F;
  }
  return tensor;
}

std::vector<std::int64_t> image(const Form& form, bool channels_last) {
  if (channels_last) return {1, form.size, form.size, form.channels};
  return {1, form.channels, form.size, form.size};
}

class Alate {
 public:
  Alate(const Form& form, bool channels_last, std::size_t threads) : x_(values(image(form, channels_last))) {
    alate::graph::Convolution conv;
    const std::int64_t padding = form.window / 2;
    conv.strides = {form.stride, form.stride};
    conv.padding_low = conv.padding_high = {padding, padding};
    conv.feature_groups = form.groups;
    conv.input_feature = conv.output_feature = channels_last ? 3 : 1;
    conv.input_spatial = conv.output_spatial =
        channels_last ? alate::graph::Numbers{1, 2} : alate::graph::Numbers{2, 3};
    conv.kernel_spatial = {2, 3};
    alate::graph::Builder b("conv");
    const auto x = b.parameter("x", x_.shape());
    const auto kernel = b.constant(values({form.outputs, form.channels / form.groups, form.window, form.window}));
    b.output("y", b.reduce_max({b.conv_general({x, kernel}, conv)}, alate::graph::Axes{{0, 1, 2, 3}}));
    alate::backends::CompileOptions options;
    options.max_workers = threads;
    executable_ = alate::cpu::cpu_backend().compile(std::move(b).finish(), options);
  }
  double microseconds() {
    const std::vector<alate::backends::Buffer> inputs = {x_};
    std::vector<alate::backends::StepTime> steps;
    executable_->run(inputs, outputs_, {.cancellation = alate::base::Cancellation::never(), .profile = &steps});
    return std::chrono::duration<double, std::micro>(steps.front().time).count();
  }

 private:
  Tensor x_;
  std::unique_ptr<alate::backends::Executable> executable_;
  std::vector<alate::backends::Buffer> outputs_{1};
};

// oneDNN's convolution, with the weights in its preferred layout and the activations in the backend's layout.
class Dnnl {
 public:
  Dnnl(const Form& form, bool channels_last) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using Dims = dnnl::memory::dims;
    using Tag = dnnl::memory::format_tag;
    const auto type = dnnl::memory::data_type::f32;
    const std::int64_t padding = form.window / 2, out = (form.size + 2 * padding - form.window) / form.stride + 1;
    const Tag layout = channels_last ? Tag::nhwc : Tag::nchw;
    const dnnl::memory::desc x({1, form.channels, form.size, form.size}, type, layout),
        y({1, form.outputs, out, out}, type, layout);
    const Dims kernel = form.groups == 1 ? Dims{form.outputs, form.channels, form.window, form.window}
                                         : Dims{form.groups, form.outputs / form.groups, 1, form.window, form.window};
    const dnnl::convolution_forward::primitive_desc chosen(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, x,
         dnnl::memory::desc(kernel, type, Tag::any), y, Dims{form.stride, form.stride}, Dims{padding, padding},
         Dims{padding, padding}},
        engine_);
    primitive_ = dnnl::convolution_forward(chosen);
    arguments_ = {{DNNL_ARG_SRC, dnnl::memory(x, engine_)},
                  {DNNL_ARG_WEIGHTS, dnnl::memory(chosen.weights_desc(), engine_)},
                  {DNNL_ARG_DST, dnnl::memory(y, engine_)}};
    for (auto& [argument, memory] : arguments_) {
      auto* floats = static_cast<float*>(memory.get_data_handle());
      std::fill_n(floats, memory.get_desc().get_size() / sizeof(float), 0.25F);
    }
  }
  double microseconds() {
    const auto start = Clock::now();
    primitive_.execute(stream_, arguments_);
    stream_.wait();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 30;
  const auto threads = static_cast<std::size_t>(count > 2 ? std::atoi(arguments[2]) : 1);
  std::printf("%-28s %-6s %10s %10s %8s\n", "form", "layout", "alate µs", "oneDNN µs", "speed");
  for (const Form& form : kForms) {
    if (count > 3 && std::strstr(form.name, arguments[3]) == nullptr) continue;
    for (const bool channels_last : {true, false}) {
      Alate ours(form, channels_last, threads);
      Dnnl theirs(form, channels_last);
      double best = 1e300, theirs_best = 1e300;
      for (int round = 0; round < rounds; ++round) {
        best = std::min(best, ours.microseconds());
        theirs_best = std::min(theirs_best, theirs.microseconds());
      }
      std::printf("%-28s %-6s %10.0f %10.0f %8.2f\n", form.name, channels_last ? "nhwc" : "nchw", best, theirs_best,
                  theirs_best / best);
    }
  }
  return 0;
}
