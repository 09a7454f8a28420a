// Runs some kernels on one thread, for counting their instructions: check_counts beside this file starts it under
// callgrind, which counts within alate_counted alone and writes what it counted each time that function ends.
//
//   instruction_kernels     prints the instruction set, then the name of each kernel as it was run
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "base/hardware/cpu_facts.h"
#include "base/threads/thread_pool.h"
#include "graph/builder.h"

namespace {

using alate::DType;
using alate::Shape;
using alate::Tensor;
using alate::base::Cancellation;
using alate::graph::Builder;
using alate::graph::Value;

std::unique_ptr<alate::backends::Executable> executable;
std::vector<alate::backends::Buffer> inputs, outputs;

// Numbers in [-1, 1) that are the same everywhere: Lehmer's generator with the multiplier of MINSTD.
Tensor numbers(const std::vector<std::int64_t>& extents) {
  static std::uint64_t state = 1;
  Shape shape{DType::f32, {}};
  for (const std::int64_t extent : extents) shape.dims.emplace_back(extent);
  Tensor tensor = Tensor::zeros(shape);
  for (float& value : tensor.mutable_values<float>()) {
    state = state * 48271 % 2147483647;
    value = static_cast<float>(state) / 1073741824.0f - 1;
  }
  return tensor;
}

Tensor integers(const std::vector<std::int32_t>& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

// A graph with inputs of its own.
struct Case {
  Builder b{"kernels"};
  std::vector<alate::backends::Buffer> given = {};

  Value input(Tensor tensor) {
    const Value value = b.parameter("in" + std::to_string(given.size()), tensor.shape());
    given.emplace_back(std::move(tensor));
    return value;
  }
};

struct Named {
  const char* name;
  std::function<Value(Case&)> build;
};

Value dense(Case& c, std::int64_t m, std::int64_t k, std::int64_t n, alate::graph::Activation activation) {
  return c.b.dense({c.input(numbers({m, k})), c.b.constant(numbers({n, k})), c.b.constant(numbers({n}))},
                   {.has_bias = true, .activation = activation});
}

// Activations in 8 bits, in two runs a row, with weights in 8 bits.
Value integer_dense(Case& c, std::int64_t m, std::int64_t k, std::int64_t n) {
  Tensor weight = Tensor::zeros({DType::i8, {n, k}});
  int next = 0;
  for (std::int8_t& value : weight.mutable_values<std::int8_t>()) value = static_cast<std::int8_t>(next++ % 255 - 127);
  return c.b.quantized_dense({c.input(numbers({m, k})), c.b.constant(numbers({k})), c.b.constant(std::move(weight)),
                              c.b.constant(numbers({n, 1}))},
                             {.blocks = {1, 0}, .has_smoothing = true, .activation_groups = 2});
}

// As many tokens as four short texts have; twelve heads of 32, as in all-MiniLM-L6-v2.
Value attention(Case& c) {
  const std::vector<std::int32_t> starts = {0, 17, 49, 57}, lengths = {17, 32, 8, 64};
  std::vector<Value> operands;
  for (int i = 0; i < 3; ++i) operands.push_back(c.input(numbers({121, 12, 32})));
  for (Tensor tensor : {integers(starts), integers(lengths)}) operands.push_back(c.input(std::move(tensor)));
  return c.b.ragged_attention(std::move(operands), {.scale = 0.17677669529663687, .longest = 64});
}

const Named kCases[] = {
    {"dense 1x384x384", [](Case& c) { return dense(c, 1, 384, 384, alate::graph::Activation::none); }},
    {"dense 33x384x384 gelu", [](Case& c) { return dense(c, 33, 384, 384, alate::graph::Activation::gelu_erf); }},
    {"dense 128x384x96", [](Case& c) { return dense(c, 128, 384, 96, alate::graph::Activation::none); }},
    {"quantized_dense 33x384x384", [](Case& c) { return integer_dense(c, 33, 384, 384); }},
    {"attention 4 texts", attention},
    {"layer_norm 128x384",
     [](Case& c) {
       return c.b.layer_norm(
           {c.input(numbers({128, 384})), c.b.constant(numbers({384})), c.b.constant(numbers({384}))});
     }},
    {"softmax 128x500",
     [](Case& c) {
       return c.b.softmax({c.input(numbers({128, 500}))}, {.axis = 1});
     }},
    {"tiles 50000 exp mul add",
     [](Case& c) {
       const Value x = c.input(numbers({50000})), y = c.input(numbers({50000}));
       return c.b.add({c.b.mul({c.b.exp({x}), y}), x});
     }},
    {"reduce_sum 500x300 axis 0",
     [](Case& c) {
       return c.b.reduce_sum({c.input(numbers({500, 300}))}, alate::graph::Axes{{0}});
     }},
    {"transpose 200x300",
     [](Case& c) {
       return c.b.transpose({c.input(numbers({200, 300}))}, {.permutation = {1, 0}});
     }},
};

}  // namespace

extern "C" void alate_counted() {
  executable->run(inputs, outputs, {.cancellation = alate::base::Cancellation::never()});
}

int main() {
  try {
    alate::base::ThreadPool::configure_shared(1);
    std::printf("%s\n", std::string(alate::base::to_string(alate::base::chosen_instruction_set())).c_str());
    for (const Named& each : kCases) {
      Case built;
      built.b.output("out", each.build(built));
      inputs = built.given;
      outputs.assign(1, {});
      executable = alate::cpu::cpu_backend().compile(std::move(built.b).finish(), {});
      executable->run(
          inputs, outputs,
          {.cancellation = alate::base::Cancellation::never()});  // binds, and makes what later runs use again
      void (*volatile counted)() = alate_counted;                 // never inlined
      counted();
      std::printf("%s\n", each.name);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "instruction_kernels: %s\n", error.what());
    return 1;
  }
}
