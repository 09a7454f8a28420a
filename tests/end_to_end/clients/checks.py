"""One function a client: asks a running server through the client, unchanged, and raises AssertionError for whatever is
not as the program's own commands say. Each is a generator of what it has seen, one line a fact.
"""
import base64
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from hub_mirror import HubMirror
from running_server import RunningServer

TEXTS = ["A cat sits on the mat.", "Die Katze sitzt auf der Matte.", "世界 and 😀", "", "x" * 50, "one\ntwo\tthree"]
LONG = "many words " * 1000
ALIAS = "text-embedding-3-small"  # of the model, in the server's configuration
QUERY = "where is the cat?"


def equal(found, wanted, what):
    found = np.asarray(found, dtype=np.float32)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, not {wanted.shape}"
    assert np.array_equal(found, wanted), f"{what}: differs by up to {np.abs(found - wanted).max()}"


def raises(kind, call):
    """The exception that the call ends with, which must be of this kind."""
    try:
        call()
    except kind as error:
        return error
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} instead of {kind.__name__}: {error}") from error
    raise AssertionError(f"no {kind.__name__}")


def token_ids(server, texts, special=True):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(server.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [tokenizer.encode(text, add_special_tokens=special).ids for text in texts]


def check_openai(server):
    import openai

    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    wanted = server.embed(TEXTS)

    def vectors(**options):
        answer = client.embeddings.create(model=server.model, **options)
        assert answer.model == server.model and answer.usage.total_tokens > 0
        assert [entry.index for entry in answer.data] == list(range(len(answer.data)))
        return [entry.embedding for entry in answer.data]

    equal(vectors(input=TEXTS), wanted, "base64")
    yield "a list, in base64 as the client asks"
    equal(vectors(input=TEXTS, encoding_format="float"), wanted, "float")
    yield "as numbers"
    equal(vectors(input=TEXTS[0]), wanted[:1], "one text")
    yield "one text"
    equal(vectors(input=TEXTS, dimensions=64), server.embed(TEXTS, "--dimensions", "64"), "dimensions")
    yield "dimensions"
    filled = [0, 1, 2, 4, 5]
    equal(vectors(input=token_ids(server, [TEXTS[i] for i in filled])), wanted[filled], "token ids")
    equal(vectors(input=token_ids(server, [TEXTS[i] for i in filled], special=False)), wanted[filled], "bare ids")
    equal(vectors(input=token_ids(server, TEXTS[:1])[0]), wanted[:1], "one list of ids")
    yield "token ids, with and without special tokens"
    cut = client.embeddings.create(model=server.model, input=["short", LONG])
    assert cut.model_extra["truncated"] == [1], cut.model_extra
    error = raises(openai.BadRequestError, lambda: vectors(input=[LONG], extra_body={"truncate": False}))
    assert error.code == "context_length_exceeded", error.code
    yield "texts that are too long: named, or refused"
    models = {model.id: model for model in client.models.list()}
    assert server.model in models and models[server.model].object == "model"
    assert client.models.retrieve(server.model).id == server.model
    yield "models.list, models.retrieve"
    equal(client.embeddings.create(model=ALIAS, input=TEXTS[0]).data[0].embedding, wanted[0], "an alias")
    assert ALIAS in models and client.models.retrieve(ALIAS).id == ALIAS
    unnamed = server.post("/v1/embeddings", {"input": TEXTS[0]})
    assert unnamed["model"] == server.model, unnamed["model"]
    equal(unnamed["data"][0]["embedding"], wanted[0], "no model")
    yield "an alias, and no model at all"
    error = raises(openai.NotFoundError, lambda: client.embeddings.create(model="no/such", input="a"))
    assert error.code == "model_not_found", error.code
    raises(openai.NotFoundError, lambda: client.models.retrieve("no/such"))
    raises(openai.BadRequestError, lambda: vectors(input=[]))
    raises(openai.BadRequestError, lambda: vectors(input="a", dimensions=100000))
    raises(openai.BadRequestError, lambda: vectors(input=[2**31 - 1]))
    yield "errors as its exceptions"


def check_langchain(server):
    from langchain_openai import OpenAIEmbeddings

    # Its own way of cutting texts needs OpenAI's vocabulary from the network; the server cuts as the model says.
    model = OpenAIEmbeddings(model=server.model, base_url=server.url + "/v1", api_key="none",
                             check_embedding_ctx_length=False)
    equal(model.embed_documents(TEXTS), server.embed(TEXTS), "embed_documents")
    yield "embed_documents"
    equal([model.embed_query(TEXTS[1])], server.embed(TEXTS[1:2]), "embed_query")
    yield "embed_query"


def ranked(scores):
    return sorted(((index, score) for index, score in enumerate(scores)), key=lambda one: -one[1])


def check_cohere(server, tasks):
    import cohere
    from cohere.errors import BadRequestError, NotFoundError

    client = cohere.ClientV2("none", base_url=server.url)
    wanted = server.embed(TEXTS)
    kinds = ["float", "int8", "uint8", "binary", "ubinary", "base64"]
    answer = client.embed(model=server.model, texts=TEXTS, input_type="search_document", embedding_types=kinds)
    equal(answer.embeddings.float_, wanted, "float")
    assert answer.texts == TEXTS and answer.meta.billed_units.input_tokens > 0
    yield "float, the texts, the tokens"
    equal([np.frombuffer(base64.b64decode(row), "<f4") for row in answer.embeddings.base64], wanted, "base64")
    int8 = np.asarray(answer.embeddings.int8)
    assert np.array_equal(int8, server.embed(TEXTS, "--precision", "int8")), "int8"
    uint8 = np.asarray(answer.embeddings.uint8)
    assert np.array_equal(uint8, server.embed(TEXTS, "--precision", "uint8")), "uint8"
    packed = np.packbits(wanted > 0, axis=1)
    assert np.array_equal(np.asarray(answer.embeddings.ubinary), packed), "ubinary"
    assert np.array_equal(np.asarray(answer.embeddings.binary), packed.astype(int) - 128), "binary"
    yield "int8, uint8, binary, ubinary, base64"
    inputs = [{"content": [{"type": "text", "text": text}]} for text in TEXTS]
    answer = client.embed(model=server.model, inputs=inputs, input_type="search_query")
    equal(answer.embeddings.float_, wanted, "inputs")
    yield "inputs instead of texts"
    answer = client.embed(model=server.model, texts=TEXTS, input_type="clustering", output_dimension=32)
    equal(answer.embeddings.float_, server.embed(TEXTS, "--dimensions", "32"), "output_dimension")
    yield "output_dimension"
    wanted = ranked(tasks.scores(QUERY, TEXTS))
    for ranker in (cohere.ClientV2("none", base_url=tasks.url), cohere.Client("none", base_url=tasks.url)):
        answer = ranker.rerank(model="tiny/reranker", query=QUERY, documents=TEXTS, top_n=3)
        assert [(one.index, np.float32(one.relevance_score)) for one in answer.results] == [
            (index, np.float32(score)) for index, score in wanted[:3]], answer.results
    yield "rerank, by both versions"
    raises(NotFoundError, lambda: client.embed(model="no/such", texts=["a"], input_type="clustering"))
    raises(BadRequestError,
           lambda: client.embed(model=server.model, texts=[LONG], input_type="clustering", truncate="NONE"))
    raises(BadRequestError, lambda: client.embed(model=server.model, images=["data:,"], input_type="image"))
    yield "errors as its exceptions"


def check_ollama(server):
    import ollama

    client = ollama.Client(server.url)
    wanted = server.embed(TEXTS)
    answer = client.embed(model=server.model, input=TEXTS)
    equal(answer["embeddings"], wanted, "embed")
    assert answer["prompt_eval_count"] > 0 and answer["total_duration"] > 0
    equal(client.embed(model=server.model, input=TEXTS[0])["embeddings"], wanted[:1], "one text")
    equal(client.embed(model=server.model, input=TEXTS, dimensions=16)["embeddings"],
          server.embed(TEXTS, "--dimensions", "16"), "dimensions")
    yield "embed"
    assert server.model in {model.model.removesuffix(":latest") for model in client.list().models}
    yield "list"
    assert client.show(server.model).modelinfo
    yield "show"
    assert server.model in {model.model.removesuffix(":latest") for model in client.ps().models}
    yield "ps"
    error = raises(ollama.ResponseError, lambda: client.embed(model="no/such", input="a"))
    assert error.status_code == 404, error.status_code
    raises(ollama.ResponseError, lambda: client.embed(model=server.model, input=LONG, truncate=False))
    yield "errors as its exceptions"
    yield from check_ollama_pull(server, wanted)


def check_ollama_pull(server, wanted):
    import ollama

    name = "hf:acme/model"
    error = raises(ollama.ResponseError, lambda: ollama.Client(server.url).pull(name))
    assert error.status_code == 403, error.status_code
    with tempfile.TemporaryDirectory() as home, HubMirror("acme/model", server.folder) as hub:
        environment = {"HF_ENDPOINT": hub.url, "HF_HOME": home, "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
        options = ["--allow-downloads", "--download-owners", "acme"]
        with RunningServer(server.program, server.folder, options, environment) as fetching:
            client = ollama.Client(fetching.url)
            lines = list(client.pull(name, stream=True))
            assert lines[0].status == "pulling manifest" and lines[-1].status == "success", lines
            files = {line.digest: line for line in lines if line.digest}
            assert files and all(line.completed == line.total for line in files.values()), files
            assert client.pull(name).status == "success"
            equal(client.embed(model=name, input=TEXTS)["embeddings"], wanted, "a model that was pulled")
            assert name in {model.model.removesuffix(":latest") for model in client.list().models}
            raises(ollama.ResponseError, lambda: list(client.pull("hf:acme/absent", stream=True)))
            raises(ollama.ResponseError, lambda: client.pull("hf:evil/model"))
    yield "pull, streamed and not"


def check_huggingface_hub(server, tasks):
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import HfHubHTTPError

    wanted = server.embed(TEXTS)
    unit = wanted.astype(np.float64) / np.linalg.norm(wanted.astype(np.float64), axis=1, keepdims=True)
    for client in (InferenceClient(model=f"{server.url}/models/{server.model}"), InferenceClient(base_url=server.url)):
        equal(client.feature_extraction(TEXTS[0]), wanted[:1], "feature_extraction")
        equal(client.feature_extraction(TEXTS), wanted, "feature_extraction of a list")
        equal(client.feature_extraction(TEXTS[1], normalize=True, truncate=True, truncation_direction="Left"),
              wanted[1:2], "feature_extraction with options")
        scores = client.sentence_similarity(TEXTS[0], other_sentences=TEXTS[1:])
        assert np.allclose(scores, unit[1:] @ unit[0], atol=1e-6), "sentence_similarity"
    yield "feature_extraction at / and /models/M"
    yield "sentence_similarity at / and /models/M"
    recognizer = InferenceClient(model=f"{server.url}/models/builtin:pii")
    found = recognizer.token_classification("My name is Ada Wong.", aggregation_strategy="simple")
    assert [(each.entity_group, each.word, each.start, each.end) for each in found] == [
        ("GIVEN_NAME", "ada", 11, 14), ("SURNAME", "wong", 15, 19)], found
    found = recognizer.token_classification("My name is Ada Wong.", aggregation_strategy="none", ignore_labels=["B-SURNAME"])
    assert [(each.entity, each.word) for each in found] == [("B-GIVEN_NAME", "ada")], found
    yield "token_classification at /models/M"
    classifier = InferenceClient(model=f"{tasks.url}/models/tiny/nli")
    assert [(each.label, each.score) for each in classifier.text_classification(TEXTS[0])] == tasks.labels(TEXTS[:1])[0]
    found = classifier.text_classification(TEXTS[0], top_k=1, function_to_apply="none")
    assert [(each.label, each.score) for each in found] == tasks.labels(TEXTS[:1], "--raw-scores", "--top-k", "1")[0]
    yield "text_classification at /models/M"
    for multi, option in ((True, "--multi-label"), (False, "--single-label")):
        found = classifier.zero_shot_classification(TEXTS[0], ["cats", "dogs"], multi_label=multi,
                                                    hypothesis_template="about {}")
        wanted = tasks.labels(TEXTS[:1], "--labels", "cats,dogs", option, "--hypothesis-template", "about {}")[0]
        assert [(each.label, each.score) for each in found] == wanted, found
    yield "zero_shot_classification at /models/M"
    error = raises(HfHubHTTPError, lambda: client.feature_extraction(LONG, truncate=False))
    assert error.response.status_code == 413, error.response.status_code
    nothing = InferenceClient(model=f"{server.url}/models/no/such")
    error = raises(HfHubHTTPError, lambda: nothing.feature_extraction("a"))
    assert error.response.status_code == 404, error.response.status_code
    yield "errors as its exceptions"


def check_text_embeddings_inference(server, tasks):
    """The routes that have no client of their own, against the reference tokenizer."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(server.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for text, found in zip(TEXTS, server.post("/tokenize", {"inputs": TEXTS, "model": server.model})):
        encoding = tokenizer.encode(text)
        assert [token["id"] for token in found] == encoding.ids, text
        for token, (start, stop), special in zip(found, encoding.offsets, encoding.special_tokens_mask):
            assert token["special"] == bool(special)
            if special:
                assert token["start"] is None and token["stop"] is None and token["text"] in ("[CLS]", "[SEP]")
                continue
            # The reference counts code points in Python, and bytes in the server that is followed here.
            assert (token["start"], token["stop"]) == (len(text[:start].encode()), len(text[:stop].encode())), text
            assert token["text"] == text[start:stop]
    yield "/tokenize as the tokenizers package"
    rows = token_ids(server, TEXTS)
    found = server.post("/decode", {"ids": rows, "model": server.model})
    assert found == [tokenizer.decode(row) for row in rows], found
    yield "/decode as the tokenizers package"
    equal(server.post("/embed", {"inputs": rows[0], "model": server.model}), server.embed(TEXTS[:1]), "/embed of ids")
    yield "/embed of token ids"
    every = server.post("/embed_all", {"inputs": TEXTS, "model": server.model})
    for row, found in zip(rows, every):
        forward = server.forward({"input_ids": np.array([row])})["last_hidden_state"]
        equal(found, forward[0], "/embed_all")
    yield "/embed_all"
    scores = tasks.scores(QUERY, TEXTS, "--raw-scores")
    found = tasks.post("/models/tiny/reranker/rerank", {"query": QUERY, "texts": TEXTS, "raw_scores": True})
    assert [(one["index"], one["score"]) for one in found] == ranked(scores), found
    jina = tasks.post("/v1/rerank", {"model": "tiny/reranker", "query": QUERY, "documents": TEXTS})
    assert [(one["index"], one["relevance_score"]) for one in jina["results"]] == ranked(tasks.scores(QUERY, TEXTS))
    assert [one["document"]["text"] for one in jina["results"]] == [TEXTS[one["index"]] for one in jina["results"]]
    assert jina["usage"]["total_tokens"] > 0
    yield "/rerank, and Jina's /v1/rerank"
    found = tasks.post("/models/tiny/nli/predict", {"inputs": [[text] for text in TEXTS]})
    assert [[(one["label"], one["score"]) for one in text] for text in found] == tasks.labels(TEXTS), found
    yield "/predict"
    facts = json.loads(server.get(f"/models/{server.model}/info"))
    assert facts["model_id"] == server.model and facts["model_dtype"] == "float32", facts
    assert facts["model_type"] == {"embedding": {"pooling": "mean"}} and facts["max_input_length"] > 0, facts
    yield "/info"


def check_tritonclient(server, tasks):
    import tritonclient.http as http
    from tritonclient.utils import InferenceServerException

    client = http.InferenceServerClient(server.authority)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(server.model)
    assert not client.is_model_ready("no/such")
    metadata = client.get_model_metadata(server.model)
    assert [tensor["name"] for tensor in metadata["inputs"]] == ["text"]
    assert client.get_server_metadata()["name"] == "alate"
    yield "live, ready, metadata"

    def tensor(name, values, datatype, binary):
        made = http.InferInput(name, list(values.shape), datatype)
        made.set_data_from_numpy(values, binary_data=binary)
        return made

    texts = np.array(TEXTS, dtype=object)
    wanted = server.embed(TEXTS)
    for binary in (True, False):
        asked = [http.InferRequestedOutput("sentence_embedding", binary_data=binary)]
        for shape in ([len(TEXTS)], [len(TEXTS), 1]):
            answer = client.infer(server.model, [tensor("text", texts.reshape(shape), "BYTES", binary)], outputs=asked,
                                  request_id="7")
            equal(answer.as_numpy("sentence_embedding"), wanted, f"text, binary {binary}")
            assert answer.get_response()["id"] == "7"
    yield "text, as JSON and binary"

    other = http.InferenceServerClient(tasks.authority)

    def infer(model, inputs, binary, **parameters):
        given = [tensor(name, np.array(values, dtype=object), "BYTES", binary) for name, values in inputs.items()]
        return other.infer(model, given, parameters=parameters or None)

    assert {"text", "query"} <= {one["name"] for one in other.get_model_metadata("tiny/reranker")["inputs"]}
    for binary in (True, False):
        found = infer("tiny/reranker", {"query": [QUERY], "text": TEXTS}, binary).as_numpy("scores")
        equal(found, np.array(tasks.scores(QUERY, TEXTS), np.float32), "rerank")
        answer = infer("tiny/nli", {"text": TEXTS}, binary)
        labels = [[label.decode() for label in row] for row in answer.as_numpy("labels")]
        wanted = tasks.labels(TEXTS)
        assert labels == [[label for label, _ in row] for row in wanted], labels
        equal(answer.as_numpy("scores"), np.array([[score for _, score in row] for row in wanted], np.float32), "classify")
        names = ["My name is Ada Wong."]
        found = infer("builtin:pii", {"text": names}, binary).as_numpy("entities")
        assert json.loads(found[0]) == tasks.run("recognize", "builtin:pii", names)["entities"][0], found
        found = infer("builtin:pii", {"text": names}, binary, task="redact").as_numpy("redacted_text")
        assert found[0].decode() == tasks.run("redact", "builtin:pii", names)["texts"][0], found
    raises(InferenceServerException, lambda: infer("tiny/reranker", {"text": TEXTS}, True))
    raises(InferenceServerException, lambda: infer("tiny/reranker", {"query": TEXTS, "text": TEXTS}, True))
    other.close()
    yield "rerank, classify, recognize and redact with texts, as JSON and binary"

    rows = token_ids(server, TEXTS[:3])
    longest = max(len(row) for row in rows)
    ids = np.array([row + [0] * (longest - len(row)) for row in rows])
    mask = (np.arange(longest) < [[len(row)] for row in rows]).astype(np.int64)
    forward = server.forward({"input_ids": ids, "attention_mask": mask})
    for binary in (True, False):
        for datatype, kind in (("INT64", np.int64), ("INT32", np.int32)):
            inputs = [tensor("input_ids", ids.astype(kind), datatype, binary),
                      tensor("attention_mask", mask.astype(kind), datatype, not binary)]
            asked = [http.InferRequestedOutput(name, binary_data=binary) for name in forward]
            answer = client.infer(server.model, inputs, outputs=asked)
            for name, values in forward.items():
                equal(answer.as_numpy(name), values, f"{name} of {datatype}, binary {binary}")
    everything = client.infer(server.model, [tensor("input_ids", ids, "INT64", True),
                                             tensor("attention_mask", mask, "INT64", True)], model_version="1")
    assert {output["name"] for output in everything.get_response()["outputs"]} == set(forward)
    yield "input_ids through the encoder, as JSON and binary, INT64 and INT32"

    # More than is computed at a time: 48 rows of up to 64 tokens, some places of each masked.
    generator = np.random.default_rng(4)
    ids = generator.integers(1000, 30000, (48, 64))
    mask = (np.arange(64) < generator.integers(1, 65, (48, 1))).astype(np.int64)
    answer = client.infer(server.model, [tensor("input_ids", ids, "INT64", True),
                                         tensor("attention_mask", mask, "INT64", True)])
    for name, values in server.forward({"input_ids": ids, "attention_mask": mask}).items():
        equal(answer.as_numpy(name), values, f"{name} of a large batch")
    yield "a batch of 3,072 places"

    before, = client.get_inference_statistics(server.model)["model_stats"]
    client.infer(server.model, [tensor("text", texts, "BYTES", True)])
    after, = client.get_inference_statistics(server.model)["model_stats"]
    assert after["name"] == server.model and after["version"] == "1"
    assert after["inference_count"] - before["inference_count"] == len(TEXTS)
    assert after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"] == 1
    assert after["inference_stats"]["compute_infer"]["ns"] > before["inference_stats"]["compute_infer"]["ns"]
    assert {entry["name"] for entry in client.get_inference_statistics()["model_stats"]} >= {server.model}
    yield "statistics"
    raises(InferenceServerException,
           lambda: client.infer(server.model, [tensor("text", texts, "BYTES", True)], model_version="2"))
    raises(InferenceServerException, lambda: client.infer("no/such", [tensor("text", texts, "BYTES", True)]))
    raises(InferenceServerException, lambda: client.infer(server.model, [tensor("other", ids, "INT64", True)]))
    raises(InferenceServerException, lambda: client.infer(server.model, [tensor("input_ids", -ids, "INT64", True)]))
    yield "errors as its exception"
    client.load_model(server.model)
    assert {"name": server.model, "state": "READY"}.items() <= client.get_model_repository_index()[0].items()
    client.unload_model(server.model)
    assert client.get_model_repository_index()[0]["state"] == "UNAVAILABLE"
    client.load_model(server.model)
    client.close()
    yield "the repository: index, load, unload"


def check_prometheus_client(server):
    from prometheus_client.parser import text_string_to_metric_families

    server.post("/v1/embeddings", {"model": server.model, "input": "a"})
    families = {family.name: family for family in text_string_to_metric_families(server.get("/metrics").decode())}
    assert all(family.documentation and family.type != "unknown" for family in families.values())
    yield f"{len(families)} families parsed"
    served = sum(sample.value for sample in families["alate_http_requests"].samples
                 if sample.name.endswith("_total") and "/v1/embeddings" in sample.labels.values())
    assert served >= 1, "the request above is not counted"
    for family in families.values():
        if family.type != "histogram":
            continue
        counts = {}
        for sample in family.samples:
            labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            if sample.name.endswith("_bucket"):
                assert sample.value >= counts.get(labels, 0), f"{family.name}: buckets fall"
                counts[labels] = sample.value
    yield "requests are counted, buckets rise"


def check_openapi_spec_validator(server):
    from openapi_spec_validator import validate

    document = json.loads(server.get("/openapi.json"))
    validate(document)
    yield f"{sum(len(path) for path in document['paths'].values())} operations are well described"


def check_schemathesis(server, examples=30):
    hook = pathlib.Path(__file__).resolve().with_name("schemathesis_hook.py")
    checks = ("answers_without_internal_error,status_code_conformance,content_type_conformance,"
              "response_schema_conformance")
    # It keeps what it finds in the folder where it runs.
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [pathlib.Path(sys.executable).with_name("schemathesis"), "run", server.url + "/openapi.json",
             "--checks", checks, "--max-examples", str(examples), "--phases", "examples,coverage,fuzzing",
             "--request-timeout", "60", "--suppress-health-check", "filter_too_much", "--continue-on-failure",
             "--generation-deterministic", "--no-color"],
            capture_output=True, text=True, check=False, cwd=folder,
            env=dict(os.environ, SCHEMATHESIS_HOOKS=str(hook), ALATE_CHECKED_MODEL=server.model))
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    operations = re.search(r"Tested: (\d+)", run.stdout).group(1)
    requests = re.search(r"(\d+) generated, \1 passed", run.stdout).group(1)
    yield f"{requests} requests to {operations} operations: no internal error, no undocumented answer"


CHECKS = {
    "openai": check_openai,
    "langchain-openai": check_langchain,
    "cohere": check_cohere,
    "ollama": check_ollama,
    "huggingface_hub": check_huggingface_hub,
    "tokenizers": check_text_embeddings_inference,
    "tritonclient": check_tritonclient,
    "prometheus_client": check_prometheus_client,
    "openapi-spec-validator": check_openapi_spec_validator,
    "schemathesis": check_schemathesis,
}


def version_of(name):
    """Of the package that the first word names, or of curl; None if it is not installed."""
    if name == "curl":
        found = shutil.which("curl")
        return found and subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    try:
        return importlib.metadata.version(name.split()[0])
    except importlib.metadata.PackageNotFoundError:
        return None
