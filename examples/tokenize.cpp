// Texts to token ids and back, with a tokenizer and nothing else of Alate:
//   tokenize FOLDER_OR_FILE TEXT…        FOLDER_OR_FILE: a model's folder, or its tokenizer.json
#include <cstdio>
#include <exception>
#include <vector>

#include "alate/tokenizer.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FOLDER_OR_FILE TEXT...\n", argv[0]);
    return 2;
  }
  const auto tokenizer = alate::Tokenizer::load(argv[1]);
  const std::vector<alate::EncodeInput> texts(argv + 2, argv + argc);
  for (const alate::Encoding& encoding : tokenizer.encode_batch(texts)) {
    for (std::size_t i = 0; i < encoding.ids.size(); ++i)
      std::printf("%d %u-%u %s\n", encoding.ids[i], encoding.offsets[i].first, encoding.offsets[i].second,
                  encoding.tokens[i].c_str());
    // A model's answer comes token by token; its text may be shown as it grows.
    alate::DecodeStream stream(tokenizer, {.skip_special_tokens = true});
    for (const std::int32_t id : encoding.ids) std::fputs(stream.push(id).c_str(), stdout);
    std::puts(stream.finish().c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
