#include <algorithm>
#include <array>
#include <vector>

#include "verb.h"

namespace alate::app {
namespace {

constexpr std::array kVerbs = {
    Verb{"embed", "MODEL [TEXT...]", "texts to vectors",
         "Texts are arguments, or one a line from standard input or --file. A .jsonl file (or --input jsonl)\n"
         "has {\"text\": ...} a line, so that texts may hold line breaks.",
         "alate embed sentence-transformers/all-MiniLM-L6-v2 \"a first text\" \"a second one\" --output json\n"
         "alate embed ./my-model --file texts.txt --out vectors.npy",
         run_embed},
    Verb{"forward", "MODEL --inputs IN --outputs OUT", "raw tensors through a model",
         "Inputs and outputs have the names of the transformers forward (input_ids, attention_mask, ...;\n"
         "last_hidden_state, pooler_output, logits). Files are .safetensors or .npz.",
         "alate forward ./my-model --inputs batch.safetensors --outputs hidden.npz", run_forward},
    Verb{"tokenize", "MODEL [TEXT...]", "texts to token ids and back",
         "MODEL may also be a tokenizer.json. Nothing is cut unless --max-length asks for it. Input is as for\n"
         "embed; a .jsonl line may have a \"pair\" beside its \"text\".",
         "alate tokenize ./my-model \"What is a token?\"\n"
         "alate tokenize ./my-model --output jsonl <texts.txt | alate tokenize ./my-model --decode --skip-special",
         run_tokenize},
    Verb{"bench", "MODEL --lengths LENGTHS", "how many tokens a second a model takes",
         "Runs texts of these token counts as one job: random ids, new each time, after a warm-up. The time is\n"
         "from ids in to vectors out. --output: text (a table), markdown, csv or json.",
         "alate bench sentence-transformers/all-MiniLM-L6-v2 --lengths 32x128 --repeat 10\n"
         "alate bench sentence-transformers/all-MiniLM-L6-v2 --lengths 32 --threads 1 --profile",
         run_bench},
    Verb{"compare", "MODEL [TEXT...] --backends NAME,NAME", "backends against each other on one model",
         "Each backend gets the same inputs, one after the other: the texts given, else some built in, or random\n"
         "token ids. Shown are how fast each is, and how far its numbers are from the first one's.",
         "alate compare sentence-transformers/all-MiniLM-L6-v2 --backends reference,cpu\n"
         "alate compare ./my-model --backends cpu,reference --lengths 4x16,100 --output json",
         run_compare},
    Verb{"estimate", "MODEL", "how much memory a model takes, and where it fits",
         "Weights, activations and results by the graph that each backend would run; nothing is loaded. Instead of\n"
         "MODEL, the sizes of any decoder may be given.",
         "alate estimate sentence-transformers/all-MiniLM-L6-v2 --batch-size 8 --max-length 128\n"
         "alate estimate --hidden 4096 --intermediate 14336 --layers 32 --vocab 32000 --heads 32 --kv-heads 8 \\\n"
         "  --max-seq 4096 --dtype-bytes 4",
         run_estimate},
    Verb{"quantize", "MODEL OUT --type int8", "a model with 8-bit weights out of one with floats",
         "Reads an encoder's folder and writes another, OUT, that every command takes as MODEL: a quarter of the\n"
         "size, and products in 8 bits. Weights are rounded so that the outputs for the calibration texts change\n"
         "least: some 100 built in, or those of --calibration, one a line (.jsonl: {\"text\": ...}).",
         "alate quantize sentence-transformers/all-MiniLM-L6-v2 ./minilm-int8 --type int8\n"
         "alate quantize ./my-model ./my-model-int8 --type int8 --calibration texts.txt",
         run_quantize},
    Verb{"backends", "[install|remove NAME]", "what this machine can compute on, and why not on the rest",
         "Each backend with its devices, memory and versions; for an absent one the reason and what to do.\n"
         "What was found is remembered; --probe looks anew. install fetches a runtime's library from its\n"
         "published package, of a pinned version and sum, into the cache folder; remove deletes it.",
         "alate backends\n"
         "alate backends --probe --output json\n"
         "alate backends install onnx",
         run_backends},
    Verb{"doctor", "[MODEL]", "which backend would run a model, and why",
         "Shows the machine, how fast it is at best, the backends, and the whole decision: what was considered, in\n"
         "which order, and what speaks against each. Without MODEL, for any model. With MODEL, its files are checked\n"
         "as for `embed`: where that would fail, so does this, with the same error.",
         "alate doctor sentence-transformers/all-MiniLM-L6-v2\n"
         "alate doctor ./my-model --backend onnx:cuda --policy strict --output json",
         run_doctor},
    Verb{"version", "", "version and facts of this build", "", "alate version --output json", run_version},
    Verb{"help", "[COMMAND]", "this overview, or a command's options", "", "alate help embed", run_help},
    Verb{"demo", "MODEL [TEXT...]", "how alike are these sentences?", "",
         "alate demo sentence-transformers/all-MiniLM-L6-v2", run_demo, true},
    Verb{"__probe", "BACKEND LIBRARY", "tries a library in a process of its own", "", "", run_probe, true},
};

}  // namespace

std::span<const Verb> verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> rows(verbs_of_server().begin(), verbs_of_server().end());
    rows.insert(rows.end(), kVerbs.begin(), kVerbs.end());
    return rows;
  }();
  return all;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(verbs(), name, &Verb::name);
  return found == verbs().end() ? nullptr : &*found;
}

}  // namespace alate::app
