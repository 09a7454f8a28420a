// The emitter's subgraphs: branches and loop bodies.
#include "exchange/onnx/emitter.h"
#include "exchange/onnx/message_fields.h"

namespace alate::exchange::onnx {

Emitter::Written Emitter::subgraph(const std::vector<DType>& parameters, std::size_t scalars, const Body& body) {
  ProtobufWriter ends;
  Written written;
  const auto declare = [&](std::uint32_t field, const std::string& name, DType dtype, bool is_scalar) {
    ProtobufWriter tensor, type, info;  // otherwise of any shape, known at run time
    tensor.integer(1, onnx_dtype(stored_dtype(dtype)));
    if (is_scalar) tensor.message(2, ProtobufWriter());
    type.message(1, tensor);
    info.bytes(1, name);
    info.message(2, type);
    ends.message(field, info);
  };
  open_.emplace_back();
  Terms arguments;
  for (const DType dtype : parameters) {
    arguments.push_back({this, new_name(), dtype});
    declare(graph_field::kInput, arguments.back().name, dtype, arguments.size() <= scalars);
  }
  for (const Term& result : body(arguments)) {
    const Term output = node("Identity", result.dtype, {result});  // it may be a value of an outer graph
    written.dtypes.push_back(output.dtype);
    declare(graph_field::kOutput, output.name, output.dtype, false);
  }
  written.subgraph.bytes = std::move(open_.back());
  open_.pop_back();
  written.subgraph.bytes.bytes(graph_field::kName, new_name());
  written.subgraph.bytes.append(ends);
  return written;
}

Terms Emitter::repeat(const Term& count, const Terms& state, const Body& body) {
  std::vector<DType> parameters{DType::i64, DType::boolean};
  for (const Term& term : state) parameters.push_back(term.dtype);
  const Written written = subgraph(parameters, 2, [&](const Terms& arguments) {
    Terms inner{arguments[0]};
    inner.insert(inner.end(), arguments.begin() + 2, arguments.end());
    Terms results = body(inner);
    results.insert(results.begin(), arguments[1]);
    return results;
  });
  Terms inputs{count, Term{}};
  inputs.insert(inputs.end(), state.begin(), state.end());
  return nodes("Loop", {written.dtypes.begin() + 1, written.dtypes.end()}, inputs,
               {attribute("body", written.subgraph)});
}

Terms Emitter::repeat_while(const Terms& state, const Body& condition, const Body& body) {
  std::vector<DType> parameters{DType::i64, DType::boolean};
  for (const Term& term : state) parameters.push_back(term.dtype);
  const Written written = subgraph(parameters, 2, [&](const Terms& arguments) {
    Terms results = body({arguments.begin() + 2, arguments.end()});
    results.insert(results.begin(), condition(results).front());
    return results;
  });
  Terms inputs{Term{}, condition(state).front()};
  inputs.insert(inputs.end(), state.begin(), state.end());
  return nodes("Loop", {written.dtypes.begin() + 1, written.dtypes.end()}, inputs,
               {attribute("body", written.subgraph)});
}

}  // namespace alate::exchange::onnx
