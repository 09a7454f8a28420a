#include "backends/donation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "alate/error.h"

namespace alate::backends {
namespace {

// The largest size that the shape's dims allow; none if a dim has no upper bound, or no memory could hold it.
std::optional<std::size_t> most_bytes(const Shape& shape, const graph::DimTable& dims) {
  Shape largest{shape.dtype, {}};
  for (const Dim dim : shape.dims) {
    const std::int64_t most = dims.bounds(dims.form(dim)).most;
    if (most == graph::Interval::kHighest) return std::nullopt;
    largest.dims.emplace_back(most);
  }
  try {
    return largest.byte_count();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string size_text(const Shape& shape, const std::optional<std::size_t>& most) {
  if (!most) return "of a size without an upper bound";
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  return (shape.is_static() ? "" : "up to ") + std::to_string((*most + kMebibyte - 1) / kMebibyte) + " MiB";
}

}  // namespace

std::vector<AliasFacts> copied_aliases(const graph::Graph& graph, std::string_view reason) {
  std::vector<AliasFacts> aliases;
  for (const graph::Output& output : graph.outputs()) {
    if (!output.aliases_parameter) continue;
    const std::string& parameter = graph.parameters()[*output.aliases_parameter].name;
    aliases.push_back({.output = output.name, .parameter = parameter, .copy_reason = std::string(reason)});
  }
  return aliases;
}

void require_small_copies(std::string_view backend, const graph::Graph& graph, std::span<const AliasFacts> aliases,
                          const CompileOptions& options) {
  if (!options.refuse_large_copies) return;
  for (const AliasFacts& alias : aliases) {
    if (alias.in_place) continue;
    const auto parameter = std::ranges::find(graph.parameters(), alias.parameter, &graph::Parameter::name);
    const std::optional<std::size_t> bytes = most_bytes(parameter->shape, graph.dims());
    if (bytes && *bytes <= kMostCopiedBytes) continue;
    throw make_error(ErrorCode::unsupported, "backend '", backend, "' would copy the donated parameter '",
                     alias.parameter, "' (", graph.dims().to_string(parameter->shape), ", ",
                     size_text(parameter->shape, bytes), ") in every run, because ", alias.copy_reason,
                     "; copies over ", kMostCopiedBytes >> 20,
                     " MiB were refused: choose a backend that writes it in place, for example 'cpu', change the "
                     "graph, or compile without refuse_large_copies");
  }
}

}  // namespace alate::backends
