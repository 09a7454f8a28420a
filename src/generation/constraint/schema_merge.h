// Schemas that must all hold, as one.
#pragma once

#include "formats/json.h"
#include "generation/constraint/compile_budget.h"
#include "generation/constraint/schema_place.h"

namespace alate::generation {

/// Takes references and allOf out of the top of schemas.
class SchemaMerger {
 public:
  /// References begin at `root`.
  SchemaMerger(const formats::Json& root, CompileBudget& budget) : root_(root), budget_(budget) {}

  CompileBudget& budget() const { return budget_; }
  /// The schema without $ref, allOf and annotations at its top, which means the same: an object, or false. Throws
  /// invalid_argument where that is not known to be possible.
  formats::Json flat(const formats::Json& schema, const SchemaPlace& place, int depth = 0) const;
  /// What two schemas both allow; both are flat, and so is the result.
  formats::Json both(const formats::Json& a, const formats::Json& b, const SchemaPlace& place, int depth = 0) const;

 private:
  using Member = formats::Json::Member;

  formats::Json combined(const formats::Json& a, const formats::Json& b, const SchemaPlace& place, int depth) const;
  void add(formats::Json::Object& all, const Member& member, const SchemaPlace& place, int depth) const;
  formats::Json both_properties(const formats::Json& a, const formats::Json& b, const SchemaPlace& place,
                                int depth) const;

  const formats::Json& root_;
  CompileBudget& budget_;
};

}  // namespace alate::generation
