// What was extracted as JSON.
#pragma once

#include <string>

#include "alate/extract.h"

namespace alate::pipelines {

/// What is written of a value besides its text.
struct ExtractionForm {
  bool confidence = false;  // its score
  bool spans = false;       // its place
};

/// As the package gliner2 formats its results: {"person": [{"name": "Ada", "cities": ["London"]}], "entities": {"city":
/// ["London"]}, "tone": "warm", "relation_extraction": {"lives_in": [["Ada", "London"]]}}. With scores and places a
/// value is {"text": "Ada", "confidence": 0.99, "start": 0, "end": 3, "byte_start": 0, "byte_end": 3}. Of values of a
/// list that differ only in case the first is written, where places are not.
std::string extraction_json(const Extraction& extraction, const ExtractionForm& form);

}  // namespace alate::pipelines
