// Verbs of builds with the server; verbs_without_server.cpp replaces this file in other builds.
#include <array>

#include "verb.h"

namespace alate::app {
namespace {

constexpr std::string_view kServeDetails =
    "Answers the clients of OpenAI, Ollama, Cohere, TEI and KServe. MODEL is for requests that name none; others name "
    "a "
    "model of the models directory. SIGTERM and Ctrl-C finish what was taken, then stop; SIGHUP reads the certificate "
    "anew.";
constexpr std::string_view kServeExample =
    "alate serve builtin:minilm\n"
    "alate serve builtin:minilm --port 8080 --check-config >alate.yaml\n"
    "alate serve --config alate.yaml\n"
    "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out cert.pem\n"
    "alate serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem";

constexpr std::array kVerbs = {
    Verb{"serve", "[MODEL]", "an HTTP server for models", kServeDetails, kServeExample, run_serve},
    Verb{"ps", "", "the models that a running server has loaded",
         "The server is the one that the configuration and the ALATE_ variables describe, or that of --url.",
         "alate ps\n"
         "alate ps --url http://127.0.0.1:11433 --output json",
         run_ps},
    Verb{"load", "MODEL", "has a running server load a model",
         "A request that names the model would too. The server is found as by ps. Nothing is printed where it is "
         "loaded.",
         "alate load all-MiniLM-L6-v2 --for 1h", run_load},
    Verb{"unload", "MODEL", "has a running server unload a model",
         "Requests under way finish. The server is found as by ps, and takes it from administrators only.",
         "alate unload all-MiniLM-L6-v2", run_unload},
    Verb{"run", "[MODEL [PROMPT]]", "a conversation as of chat; without MODEL the server, as serve",
         "`alate run MODEL` is `alate chat MODEL`; with a PROMPT it is answered, and that is all. Without MODEL, with "
         "or "
         "without options, it is `alate serve`.",
         "alate run builtin:smollm2 \"What is the capital of France?\"", run_run, true},
};

}  // namespace

std::span<const Verb> verbs_of_server() { return kVerbs; }

}  // namespace alate::app
