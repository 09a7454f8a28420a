"""Checks of clients that chat, as those of checks.py: a tiny model writes random bytes, so that what counts are shapes, that
streams bring what whole answers have, that calls of tools and answers by a schema fit, and the errors.
"""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from generation_checks import raises
from documented import commands_of, run_commands, run_python
from generator_server import CONTEXT, MODEL

QUESTION = "Why is the sky blue?"
MESSAGES = [{"role": "user", "content": QUESTION}]
LONG = "many words " * 1000
# What random bytes end soon, where only what fits is possible.
SCHEMA = {"title": "Weather", "type": "object", "properties": {"unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                                                              "is_today": {"type": "boolean"}},
          "required": ["unit", "is_today"], "additionalProperties": False}


def fits(value):
    assert set(value) == {"unit", "is_today"}, value
    assert value["unit"] in SCHEMA["properties"]["unit"]["enum"] and isinstance(value["is_today"], bool), value


def check_anthropic(writers):
    import anthropic

    client = anthropic.Anthropic(base_url=writers.url, api_key="none", max_retries=0)
    greedy = {"model": MODEL, "messages": MESSAGES, "max_tokens": 20, "extra_body": {"temperature": 0}}
    whole = client.messages.create(**greedy)
    assert whole.role == "assistant" and whole.stop_reason in ("max_tokens", "end_turn") and whole.usage.output_tokens <= 20
    text = "".join(block.text for block in whole.content)
    with client.messages.stream(**greedy) as stream:
        assert "".join(stream.text_stream) == text
        final = stream.get_final_message()
    assert [block.to_dict() for block in final.content] == [block.to_dict() for block in whole.content]
    assert final.stop_reason == whole.stop_reason and final.usage.output_tokens == whole.usage.output_tokens

    async def ask():
        async with anthropic.AsyncAnthropic(base_url=writers.url, api_key="none") as waiting:
            return "".join(block.text for block in (await waiting.messages.create(**greedy)).content)

    assert asyncio.run(ask()) == text
    yield "messages: whole, streamed, asynchronous"
    counted = client.messages.count_tokens(model=MODEL, messages=MESSAGES).input_tokens
    assert counted == whole.usage.input_tokens + whole.usage.cache_read_input_tokens
    yield "count_tokens"
    prefilled = client.messages.create(**{**greedy, "messages": [*MESSAGES, {"role": "assistant", "content": "It is"}]},
                                       system=[{"type": "text", "text": "Be brief."}])
    assert prefilled.content
    stop = next(character for character in text[1:] if character not in text[:1] + "\ufffd")
    stopped = client.messages.create(**greedy, stop_sequences=[stop])
    assert stopped.stop_reason == "stop_sequence" and stopped.stop_sequence == stop
    yield "system, prefill, stop_sequences"
    tools = [{"name": "weather", "description": "The weather.", "input_schema": SCHEMA}]
    asked = {"model": MODEL, "messages": MESSAGES, "max_tokens": 500, "tools": tools, "tool_choice": {"type": "any", "disable_parallel_tool_use": True}}
    called = client.messages.create(**asked)
    use = next(block for block in called.content if block.type == "tool_use")
    assert called.stop_reason == "tool_use" and use.name == "weather", called
    fits(use.input)
    with client.messages.stream(**asked) as stream:
        fits(next(block for block in stream.get_final_message().content if block.type == "tool_use").input)
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "sunny"} for block in called.content
               if block.type == "tool_use"]
    follow = [*MESSAGES, {"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
    assert client.messages.create(model=MODEL, messages=follow, tools=tools, max_tokens=5).role == "assistant"
    yield "a tool that is called, whole and streamed, and its result"
    formed = client.messages.create(model=MODEL, messages=MESSAGES, max_tokens=500, output_config={
        "format": {"type": "json_schema", "schema": SCHEMA}})
    fits(json.loads(formed.content[-1].text))
    yield "output_config"
    error = raises(anthropic.BadRequestError, lambda: client.messages.create(
        model=MODEL, max_tokens=5, messages=[{"role": "user", "content": LONG}]))
    assert error.body["error"]["type"] == "invalid_request_error", error.body
    raises(anthropic.NotFoundError, lambda: client.messages.create(model="no/such", max_tokens=5, messages=MESSAGES))
    image = [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "http://127.0.0.1:1/"}}]}]
    assert "image" in str(raises(anthropic.BadRequestError,
                                 lambda: client.messages.create(model=MODEL, max_tokens=5, messages=image)))
    yield "errors as its exceptions"
    run_python("Anthropic (`anthropic`)", writers.url, {"anthropic": anthropic, "MODEL": MODEL})
    yield "the lines above"


def check_ollama(writers):
    import ollama

    client = ollama.Client(writers.url)
    greedy = {"model": MODEL, "messages": MESSAGES, "options": {"temperature": 0, "num_predict": 20}}
    whole = client.chat(**greedy)
    assert whole.done and whole.done_reason in ("length", "stop") and whole.eval_count <= 20 and whole.total_duration > 0
    text = whole.message.content
    lines = list(client.chat(**greedy, stream=True))
    assert "".join(line.message.content for line in lines) == text and lines[-1].done and not lines[0].done
    assert lines[-1].prompt_eval_count == whole.prompt_eval_count > len(QUESTION)

    async def ask():
        waiting = ollama.AsyncClient(writers.url)
        return "".join([line.message.content async for line in await waiting.chat(**greedy, stream=True)])

    assert asyncio.run(ask()) == text
    yield "chat: whole, streamed, asynchronous"
    options = {"temperature": 0, "num_predict": 20, "num_ctx": 512, "stop": ["\x01\x02"], "repeat_penalty": 1.1}
    answer = client.generate(model=MODEL, prompt=QUESTION, system="Be brief.", options=options)
    assert answer.response and answer.done
    raw = client.generate(model=MODEL, prompt=QUESTION, raw=True, options=options, logprobs=True, top_logprobs=2)
    assert raw.prompt_eval_count == len(QUESTION) and len(raw.logprobs) == raw.eval_count
    assert all(len(token.top_logprobs) == 2 for token in raw.logprobs)
    yield "generate, raw, options, logprobs"

    def weather(unit: str) -> str:
        """The weather.

        Args:
          unit: celsius or fahrenheit
        """
        return "sunny " + unit

    assert client.chat(**greedy, tools=[weather], think=False).message.role == "assistant"
    call = ollama.Message.ToolCall(function=ollama.Message.ToolCall.Function(name="weather", arguments={"unit": "celsius"}))
    follow = [*MESSAGES, ollama.Message(role="assistant", tool_calls=[call]),
              ollama.Message(role="tool", content="sunny", tool_name="weather")]
    assert client.chat(model=MODEL, messages=follow, tools=[weather], options={"num_predict": 5}).done
    yield "tools, and their results"
    fits(json.loads(client.chat(model=MODEL, messages=MESSAGES, format=SCHEMA, options={"num_predict": 500}).message.content))
    fits(json.loads(client.generate(model=MODEL, prompt=QUESTION, format=SCHEMA, options={"num_predict": 500}).response))
    yield "format"
    assert client.generate(model=MODEL).done_reason == "load"
    running = {model.model: model for model in client.ps().models}[MODEL]
    assert running.size > 0 and running.context_length > 0 and running.details.family == "llama"
    shown = client.show(MODEL)
    assert "completion" in shown.capabilities and "tools" in shown.capabilities and "messages" in shown.template
    assert shown.modelinfo["llama.context_length"] > 0
    assert client.generate(model=MODEL, keep_alive=0).done_reason == "unload"
    assert client.chat(model=MODEL, messages=[], keep_alive="5m").done_reason == "load"
    yield "load, unload, ps, show"
    long = [{"role": "user", "content": "a" * 2000}, {"role": "assistant", "content": "b"}] * 6
    assert client.chat(model=MODEL, messages=[*long, *MESSAGES], options={"num_predict": 1}).prompt_eval_count < CONTEXT
    yield "a long conversation without its oldest messages"
    error = raises(ollama.ResponseError, lambda: client.chat(model="no/such", messages=MESSAGES))
    assert error.status_code == 404, error.status_code
    for refused in ({"template": "{{ .Prompt }}"}, {"suffix": "b"}, {"images": [b"a"]}, {"context": [1]}):
        raises(ollama.ResponseError, lambda: client.generate(model=MODEL, prompt="a", **refused))
    raises(ollama.ResponseError, lambda: list(client.generate(model=MODEL, prompt=LONG, stream=True)))
    yield "errors as its exceptions"
    run_python("Ollama (`ollama`)", writers.url, {"ollama": ollama, "MODEL": MODEL})
    yield "the lines above"


def check_openai_lines(writers):
    import openai

    assert run_python("OpenAI (`openai`)", writers.url, {"openai": openai, "MODEL": MODEL})
    yield "the lines above"


def check_langchain_lines(writers):
    from langchain_openai import ChatOpenAI

    run_python("LangChain (`langchain-openai`)", writers.url, {"ChatOpenAI": ChatOpenAI, "MODEL": MODEL})
    yield "the lines above"


def check_llama_index_lines(writers):
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    run_python("LlamaIndex (`llama-index-llms-openai-like`)", writers.url,
               {"OpenAILike": OpenAILike, "ChatMessage": ChatMessage, "MODEL": MODEL})
    yield "the lines above"


def check_litellm_lines(writers):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing from the network
    import litellm

    run_python("LiteLLM (`litellm`)", writers.url, {"litellm": litellm, "MODEL": MODEL})
    yield "the lines above: as a client of OpenAI, Anthropic and Ollama"


TASK = """\
task: tiny_%(kind)s
dataset_path: json
dataset_kwargs: {data_files: {test: %(data)s}}
test_split: test
output_type: %(kind)s
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
%(more)s
"""


def check_lm_eval_lines(writers):
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "questions.jsonl")
        data.write_text("".join(json.dumps({"question": f"{i} and {i}?", "answer": str(2 * i)}) + "\n" for i in range(3)))
        more = {"generate_until": "generation_kwargs: {until: [\"\\n\"], max_gen_toks: 8}\nmetric_list: [{metric: exact_match}]",
                "multiple_choice": "doc_to_choice: [\"1\", \"2\", \"4\"]\nmetric_list: [{metric: acc}]"}
        for kind, lines in more.items():
            pathlib.Path(folder, kind + ".yaml").write_text(TASK % {"kind": kind, "data": data, "more": lines})
        program = str(pathlib.Path(sys.executable).with_name("lm_eval"))
        chats, completions = commands_of("lm-evaluation-harness (`lm-eval`)", {
            "http://127.0.0.1:11433": writers.url, "MODEL": MODEL, "lm_eval ": program + " "})
        runs = [([word.replace("TASK", "tiny_generate_until") for word in chats], "tiny_generate_until"),
                ([word.replace("TASK", "tiny_generate_until") for word in completions], "tiny_generate_until"),
                ([word.replace("TASK", "tiny_multiple_choice").replace(
                    "tokenizer_backend=none", f"tokenizer_backend=huggingface,tokenizer={writers.folder}")
                  for word in completions], "tiny_multiple_choice")]
        for words, task in runs:
            done = subprocess.run([*words, "--include_path", folder], capture_output=True, text=True, check=False, timeout=300,
                                  env=dict(os.environ, HF_HUB_OFFLINE="1", HF_DATASETS_CACHE=folder))
            assert done.returncode == 0 and task in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
            yield f"{words[2]}: {task.removeprefix('tiny_')}"


def check_guidellm(writers):
    with tempfile.TemporaryDirectory() as folder:
        texts, report = pathlib.Path(folder, "texts.jsonl"), pathlib.Path(folder, "report.json")
        texts.write_text("".join(json.dumps({"prompt": f"{QUESTION} {i}", "output_tokens_count": 8}) + "\n" for i in range(5)))
        program = str(pathlib.Path(sys.executable).with_name("guidellm"))
        words, = commands_of("guidellm", {"http://127.0.0.1:11433": writers.url, "MODEL": MODEL, "TEXTS.jsonl": str(texts),
                                          "REPORT.json": str(report), "guidellm run": program + " run"})
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, cwd=folder,
                              env=dict(os.environ, HF_HUB_OFFLINE="1"))
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        made, = json.loads(report.read_text())["benchmarks"]
        assert made["metrics"]["request_totals"]["successful"] == 5, made["metrics"]["request_totals"]
        yield "5 streams, one after the other"


def check_curl(writers):
    chat, message, ollama_chat, generated = run_commands("curl", {"http://127.0.0.1:11433": writers.url})
    assert json.loads(chat)["choices"][0]["message"]["role"] == "assistant"
    assert json.loads(message)["role"] == "assistant"
    for lines in (ollama_chat, generated):
        assert json.loads(lines.splitlines()[-1])["done"]
    yield "the lines above"


CHECKS = {
    "openai lines": check_openai_lines,
    "anthropic": check_anthropic,
    "ollama chat": check_ollama,
    "langchain-openai lines": check_langchain_lines,
    "llama-index-llms-openai-like lines": check_llama_index_lines,
    "litellm lines": check_litellm_lines,
    "lm_eval lines": check_lm_eval_lines,
    "guidellm": check_guidellm,
    "curl": check_curl,
}
