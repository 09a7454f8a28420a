// Templates by the choices of a fuzzer: each byte picks a rule of a grammar, so that nearly all of them parse. The
// rules put what lives (loops, generators, macros, functions) where it can be used again: in namespaces, in values, in
// the conditions of loops, and in macros that those call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace alate::tests {

class TemplateGrammar {
 public:
  explicit TemplateGrammar(std::span<const std::uint8_t> choices) : choices_(choices) {}

  std::string written() {
    expand("{% set ns = namespace(a=none, b=[1, 2], c=0) %}{% macro m(x) %}<s>{% endmacro %}", 0);
    while (at_ < choices_.size() && text_.size() < kMaxBytes) expand("<s>", 0);
    return std::move(text_);
  }

 private:
  static constexpr std::size_t kMaxBytes = 4000;
  static constexpr int kMaxDepth = 9;

  // In a rule <s> is a statement, <e> an expression, <l> what a loop walks through, <c> a condition, <f> a filter, <n>
  // the name of an attribute. The first rules of each are those that end.
  static constexpr std::string_view kStatements[] = {
      "x",
      "{{ <e> }}",
      "{% set ns.<n> = <e> %}",
      "{% set ns.<n> = loop %}",
      "{% set x = <e> %}",
      "{% if <c> %}{% set ns.<n> = <e> %}{% endif %}",
      "{% for x in <l> %}<s><s>{% endfor %}",
      "{% for x in <l> %}{% set ns.<n> = loop %}<s>{% if <c> %}{% break %}{% endif %}{% else %}<s>{% endfor %}",
      "{% for x in <l> if <c> %}<s>{{ loop.index }}<s>{% endfor %}",
      "{% for x in <l> if ns.<n> is none or <c> %}{% set ns.<n> = loop %}<s>{% endfor %}",
      "{% for x in <l> if m(<e>) %}{% set ns.<n> = loop %}<s>{% endfor %}",
      "{% for x, y in <l> if <c> %}{{ loop }}<s>{% endfor %}",
      "{% for x in <l> recursive %}<s>{{ loop(<l>) if <c> }}{% endfor %}",
      "{% for x in <l> if <c> recursive %}{% set ns.<n> = loop %}<s>{% endfor %}",
      "{% if <c> %}<s>{% elif <c> %}<s>{% else %}<s>{% endif %}",
      "{% set ns.<n> %}<s>{% endset %}",
      "{% set x | <f> %}<s>{% endset %}",
      "{% filter <f> | <f> %}<s>{% endfilter %}",
      "{% call(y) m(<e>) %}<s>{% endcall %}",
      "{% macro m(x, y=<e>) %}<s><s>{% endmacro %}",
      "{% macro k(x) %}{{ caller(<e>) }}<s>{{ varargs }}{% endmacro %}{% call(x) k(<e>, <e>) %}<s>{% endcall %}",
      "{% with x = <e> %}<s>{% endwith %}",
      "{% generation %}<s>{% endgeneration %}",
  };
  static constexpr std::string_view kExpressions[] = {
      "x",
      "1",
      "'ab'",
      "ns.<n>",
      "loop",
      "ns",
      "m",
      "none",
      "y",
      "messages",
      "range(3)",
      "loop.length",
      "loop.last",
      "loop.nextitem",
      "loop.previtem",
      "loop.revindex",
      "loop.index0",
      "loop.changed",
      "loop.cycle",
      "ns.<n>.length",
      "ns.<n>.last",
      "ns.<n>.nextitem",
      "ns.<n>(<e>)",
      "ns.<n>.changed",
      "ns.<n>.cycle",
      "[<e>, <e>]",
      "[ns]",
      "(<e>,)",
      "{'a': <e>, 'b': <e>}",
      "<e> | <f>",
      "<e> | <f> | <f>",
      "m(<e>)",
      "m(<e>, y=<e>)",
      "caller(<e>)",
      "<e>.<n>",
      "<e>.length",
      "<e>[<e>]",
      "<e>[1:]",
      "<e> ~ <e>",
      "<e> + <e>",
      "<e> * 3",
      "<e> == <e>",
      "<e> < <e>",
      "<e> in <e>",
      "<e> if <c> else <e>",
      "<e> or <e>",
      "namespace(a=<e>)",
      "cycler(<e>, <e>).next",
      "joiner(<e>)",
      "dict(a=<e>)",
      "'%s %r' % (<e>, <e>)",
      "'{0} {0.length}'.format(<e>)",
      "{'a': <e>}.items()",
      "{'a': <e>}.keys().isdisjoint",
      "[1, 2, 3] | map('default', <e>)",
      "[ns, ns] | map(attribute='<n>')",
      "[ns] | map(attribute='<n>') | <f>",
      "[<e>].index",
      "m(*[<e>], **{'y': <e>})",
  };
  static constexpr std::string_view kIterated[] = {
      "[1, 2, 3]",
      "range(4)",
      "ns.<n>",
      "x",
      "[[1, 2], [3]]",
      "<e>",
      "<e> | <f>",
      "[ns, ns] | map(attribute='<n>')",
      "[ns, ns] | map(attribute='<n>') | <f>",
      "[loop, ns.<n>]",
      "'ab'",
      "{'a': <e>}",
  };
  static constexpr std::string_view kConditions[] = {
      "true",
      "x",
      "ns.<n>",
      "ns.<n> is none",
      "loop.first",
      "<e>",
      "not <e>",
      "ns.<n>.length",
      "ns.<n>.last",
      "m(x) == ''",
      "ns.<n> is none or ns.<n>.length < 0",
      "loop.changed(<e>)",
      "ns.<n>(<e>)",
      "<e> is defined",
      "<e> is iterable",
      "<e> is in <e>",
      "<e> and <e>",
      "<e> == <e>",
  };
  static constexpr std::string_view kFilters[] = {
      "list",
      "first",
      "last",
      "length",
      "string",
      "join",
      "unique",
      "map('list')",
      "map('first')",
      "map('string')",
      "map(attribute='<n>')",
      "map(attribute='length')",
      "map('default', <e>)",
      "map('map', attribute='<n>')",
      "select",
      "select('in', <e>)",
      "reject('none')",
      "selectattr('<n>')",
      "selectattr('<n>', 'sameas', <e>)",
      "unique(attribute='<n>')",
      "batch(2)",
      "slice(2, <e>)",
      "groupby('<n>')",
      "sort",
      "sort(attribute='length')",
      "sum",
      "max",
      "min(attribute='<n>')",
      "reverse",
      "default(<e>, true)",
      "pprint",
      "tojson",
      "items",
      "dictsort",
      "replace('a', <e>)",
      "trim",
      "truncate(3)",
      "indent",
      "wordwrap(4)",
      "urlencode",
      "xmlattr",
      "e",
      "format(<e>)",
      "attr('<n>')",
      "int",
      "upper",
  };
  static constexpr std::string_view kNames[] = {"a", "b", "c"};

  std::size_t choice(std::size_t count) { return at_ < choices_.size() ? choices_[at_++] % count : 0; }

  void pick(std::span<const std::string_view> rules, std::size_t ending, int depth) {
    const bool ends = depth >= kMaxDepth || text_.size() >= kMaxBytes;
    expand(rules[choice(ends ? ending : rules.size())], depth + 1);
  }

  void expand(std::string_view rule, int depth) {
    for (std::size_t i = 0; i < rule.size(); ++i) {
      if (rule[i] != '<' || i + 2 >= rule.size() || rule[i + 2] != '>') {
        text_ += rule[i];
        continue;
      }
      switch (rule[i + 1]) {
        case 's': pick(kStatements, 1, depth); break;
        case 'e':
          text_ += '(';
          pick(kExpressions, 11, depth);
          text_ += ')';
          break;
        case 'l': pick(kIterated, 5, depth); break;
        case 'c': pick(kConditions, 5, depth); break;
        case 'f': pick(kFilters, 10, depth); break;
        default: pick(kNames, 3, depth); break;
      }
      i += 2;
    }
  }

  std::span<const std::uint8_t> choices_;
  std::size_t at_ = 0;
  std::string text_;
};

}  // namespace alate::tests
