// Verbs of builds with the server; verbs_without_server.cpp replaces this file in other builds.
#include <array>

#include "verb.h"

namespace alate::app {
namespace {

constexpr std::string_view kServeDetails =
    "Answers the clients of OpenAI, Ollama, Cohere, TEI and KServe. MODEL is for requests that name none;\n"
    "others name a model of the models directory. SIGTERM and Ctrl-C finish what was taken, then stop;\n"
    "SIGHUP reads the certificate anew.";
constexpr std::string_view kServeExample =
    "alate serve sentence-transformers/all-MiniLM-L6-v2\n"
    "alate serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --config alate.yaml\n"
    "alate serve --config alate.yaml --check-config";

constexpr std::array kVerbs = {
    Verb{"serve", "[MODEL]", "an HTTP server for models", kServeDetails, kServeExample, run_serve},
    Verb{"ps", "", "the models that a running server has loaded",
         "The server is the one that the configuration and the ALATE_ variables describe, or that of --url.",
         "alate ps --url http://127.0.0.1:11433", run_ps},
    Verb{"run", "[MODEL]", "another name of serve", kServeDetails, kServeExample, run_serve, true},
};

}  // namespace

std::span<const Verb> verbs_of_server() { return kVerbs; }

}  // namespace alate::app
