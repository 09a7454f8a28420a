#include "graph/attributes.h"

#include <utility>

namespace alate::graph {

Attributes::Attributes() = default;
Attributes::Attributes(const Attributes& other) = default;
Attributes::Attributes(Attributes&& other) noexcept = default;
Attributes& Attributes::operator=(const Attributes& other) = default;
Attributes& Attributes::operator=(Attributes&& other) noexcept = default;
Attributes::~Attributes() = default;

bool Attributes::operator==(const Attributes& other) const {
  return static_cast<const AnyAttributes&>(*this) == static_cast<const AnyAttributes&>(other);
}

template <typename Struct>
  requires(!std::is_base_of_v<AnyAttributes, Struct>)
Attributes::Attributes(Struct attributes) : AnyAttributes(std::move(attributes)) {}

template Attributes::Attributes(NoAttributes);
template Attributes::Attributes(Index);
template Attributes::Attributes(Convert);
template Attributes::Attributes(Iota);
template Attributes::Attributes(Reshape);
template Attributes::Attributes(Permutation);
template Attributes::Attributes(BroadcastInDim);
template Attributes::Attributes(Axis);
template Attributes::Attributes(Axes);
template Attributes::Attributes(Slice);
template Attributes::Attributes(Gather);
template Attributes::Attributes(DotGeneral);
template Attributes::Attributes(Gelu);
template Attributes::Attributes(Norm);
template Attributes::Attributes(Dense);
template Attributes::Attributes(Attention);
template Attributes::Attributes(Pool);
template Attributes::Attributes(Pad);
template Attributes::Attributes(DynamicSlice);
template Attributes::Attributes(Scatter);
template Attributes::Attributes(ArgMinMax);
template Attributes::Attributes(Cumulative);
template Attributes::Attributes(TopK);
template Attributes::Attributes(Sort);
template Attributes::Attributes(AllReduce);
template Attributes::Attributes(AllGather);
template Attributes::Attributes(AllToAll);
template Attributes::Attributes(ReduceScatter);
template Attributes::Attributes(CollectivePermute);
template Attributes::Attributes(CollectiveBroadcast);
template Attributes::Attributes(Convolution);
template Attributes::Attributes(Window);
template Attributes::Attributes(SelectWindow);
template Attributes::Attributes(Fft);
template Attributes::Attributes(BatchNorm);
template Attributes::Attributes(RngBitGenerator);
template Attributes::Attributes(Dequantize);
template Attributes::Attributes(QuantizedDense);
template Attributes::Attributes(GroupNorm);
template Attributes::Attributes(Rope);

}  // namespace alate::graph
