// A verb of the command line: its help, and the function that implements it.
#pragma once

#include <span>
#include <string_view>

namespace alate::app {

class Arguments;

struct Verb {
  std::string_view name;
  std::string_view synopsis;  // text after the name: "MODEL [TEXT...]"
  std::string_view sentence;  // for the overview
  std::string_view details;   // a paragraph for the verb's own help; may be empty
  std::string_view example;   // command lines for a fresh machine, one per line
  void (*run)(Arguments& arguments);
  bool hidden = false;  // left out of the overview
};

/// Every verb, in the order of the overview.
std::span<const Verb> verbs();
/// Verbs that need the HTTP server; empty in a build without it.
std::span<const Verb> verbs_of_server();
/// Null if there is no such verb.
const Verb* find_verb(std::string_view name);

// The verbs' functions, each in the file NAME_command.cpp. They throw alate::Error. Before Arguments::parse they only
// declare arguments.
void run_serve(Arguments& arguments);
void run_run(Arguments& arguments);
void run_load(Arguments& arguments);
void run_ps(Arguments& arguments);
void run_unload(Arguments& arguments);
void run_embed(Arguments& arguments);
void run_rerank(Arguments& arguments);
void run_chunk(Arguments& arguments);
void run_index(Arguments& arguments);
void run_search(Arguments& arguments);
void run_classify(Arguments& arguments);
void run_similarity(Arguments& arguments);
void run_recognize(Arguments& arguments);
void run_redact(Arguments& arguments);
void run_answer(Arguments& arguments);
void run_fill(Arguments& arguments);
void run_extract(Arguments& arguments);
void run_generate(Arguments& arguments);
void run_chat(Arguments& arguments);
void run_forward(Arguments& arguments);
void run_tokenize(Arguments& arguments);
void run_bench(Arguments& arguments);
void run_quantize(Arguments& arguments);
void run_convert(Arguments& arguments);
void run_pull(Arguments& arguments);
void run_list(Arguments& arguments);
void run_show(Arguments& arguments);
void run_verify(Arguments& arguments);
void run_rm(Arguments& arguments);
void run_gc(Arguments& arguments);
void run_compare(Arguments& arguments);
void run_estimate(Arguments& arguments);
void run_backends(Arguments& arguments);
void run_doctor(Arguments& arguments);
void run_probe(Arguments& arguments);
void run_version(Arguments& arguments);
void run_help(Arguments& arguments);
void run_demo(Arguments& arguments);
void run_completion(Arguments& arguments);
void run_complete(Arguments& arguments);
void run_man(Arguments& arguments);

}  // namespace alate::app
