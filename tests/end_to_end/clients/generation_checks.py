"""As checks.py, of clients that ask for generated texts. The model's texts make no sense: what is checked are the shapes
that the clients read, and that the same request has the same answer whatever way it is asked.
"""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Literal

from generator_server import CONTEXT, MODEL

MESSAGES = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "Is the sky blue?"}]
TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The weather of a city.", "parameters": {
        "type": "object", "required": ["city", "celsius"], "additionalProperties": False,
        "properties": {"city": {"type": "string", "enum": ["Bern", "Oslo"]}, "celsius": {"type": "boolean"}}}}}]


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def openai_client(server, kind="OpenAI"):
    import openai

    return getattr(openai, kind)(base_url=server.url + "/v1", api_key="none", max_retries=0)


def verdict_model():
    import pydantic

    class Verdict(pydantic.BaseModel):
        """Whether something is so."""
        answer: Literal["yes", "no"]
        sure: bool

    return Verdict


def check_weather(name, arguments):
    assert name == "weather", name
    assert set(arguments) == {"city", "celsius"} and arguments["city"] in ("Bern", "Oslo"), arguments


def check_openai_chat(server):
    import openai

    client = openai_client(server)
    asked = dict(model=MODEL, messages=MESSAGES, seed=1, max_completion_tokens=12)
    answer = client.chat.completions.create(**asked)
    assert answer.object == "chat.completion" and answer.model == MODEL and answer.system_fingerprint
    choice, = answer.choices
    assert choice.message.role == "assistant" and choice.finish_reason in ("stop", "length"), choice
    usage = answer.usage
    assert 0 < usage.completion_tokens <= 12 and usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens >= 0 and usage.completion_tokens_details.reasoning_tokens == 0
    yield "chat.completions: an answer, its end, the tokens that it took"
    assert client.chat.completions.create(**asked).choices[0].message.content == choice.message.content
    yield "the same seed, the same answer"

    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == choice.message.content, text
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == choice.finish_reason
    assert chunks[-1].usage.completion_tokens == usage.completion_tokens and not chunks[-1].choices
    yield "streamed: the same text, its end, its usage"
    with client.chat.completions.stream(**asked) as stream:
        kinds = {event.type for event in stream}
        assert stream.get_final_completion().choices[0].message.content == choice.message.content
    assert "chunk" in kinds, kinds
    yield "chat.completions.stream"

    answer = client.chat.completions.create(**asked, n=3, logprobs=True, top_logprobs=2)
    assert [one.index for one in answer.choices] == [0, 1, 2]
    assert answer.choices[0].message.content == choice.message.content, "the first of n is the one alone"
    tokens = answer.choices[0].logprobs.content
    assert tokens and all(len(one.top_logprobs) == 2 and one.logprob <= 0 and one.bytes for one in tokens)
    joined = b"".join(bytes(one.bytes) for one in tokens).decode("utf-8", "replace")
    assert joined.startswith(choice.message.content.rstrip("\ufffd")), (joined, choice.message.content)
    yield "n, logprobs with the likeliest tokens and their bytes"
    biased = client.chat.completions.create(**asked, logit_bias={"65": 100}, temperature=0)
    assert biased.choices[0].message.content == "A" * 12 and biased.choices[0].finish_reason == "length", biased
    stopped = client.chat.completions.create(**asked, logit_bias={"65": 100}, temperature=0, stop=["AAA"])
    assert stopped.choices[0].message.content == "" and stopped.choices[0].finish_reason == "stop", stopped
    yield "logit_bias, stop"
    parts = [MESSAGES[0], {"role": "user", "content": [{"type": "text", "text": MESSAGES[1]["content"]}]}]
    assert client.chat.completions.create(**{**asked, "messages": parts}).choices[0].message.content == choice.message.content
    yield "content in parts"

    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}]
    error = raises(openai.BadRequestError, lambda: client.chat.completions.create(model=MODEL, messages=image))
    assert "image_url" in str(error) and error.param == "messages", error
    long = [{"role": "user", "content": "a" * (CONTEXT + 1)}]
    error = raises(openai.BadRequestError, lambda: client.chat.completions.create(model=MODEL, messages=long))
    assert error.code == "context_length_exceeded", error
    error = raises(openai.BadRequestError, lambda: client.chat.completions.create(**asked, temperature=-1))
    assert error.param == "temperature", error
    error = raises(openai.NotFoundError, lambda: client.chat.completions.create(model="no/such", messages=MESSAGES))
    assert error.code == "model_not_found", error
    yield "errors as its exceptions"


def check_openai_async(server):
    client = openai_client(server, "AsyncOpenAI")
    asked = dict(model=MODEL, messages=MESSAGES, seed=1, max_completion_tokens=12)

    async def ask():
        text = ""
        async for chunk in await client.chat.completions.create(**asked, stream=True):
            text += chunk.choices[0].delta.content or ""
        whole = await asyncio.gather(*(client.chat.completions.create(**asked) for _ in range(4)))
        return text, [one.choices[0].message.content for one in whole]

    text, whole = asyncio.run(ask())
    assert whole == [text] * 4, (text, whole)
    yield "streamed, and four at once: the same text"


def check_openai_tools(server):
    client = openai_client(server)
    asked = dict(model=MODEL, messages=MESSAGES, tools=TOOLS, seed=1, max_completion_tokens=300)
    for choice in ("required", {"type": "function", "function": {"name": "weather"}}):
        answer = client.chat.completions.create(**asked, tool_choice=choice, parallel_tool_calls=False)
        call, = answer.choices[0].message.tool_calls
        assert call.type == "function" and call.id and answer.choices[0].finish_reason == "tool_calls", answer
        check_weather(call.function.name, json.loads(call.function.arguments))
    yield "tools: required, and one by name"
    name = arguments = ""
    for chunk in client.chat.completions.create(**asked, tool_choice="required", parallel_tool_calls=False, stream=True):
        for part in chunk.choices[0].delta.tool_calls or []:
            assert part.index == 0
            name += part.function.name or ""
            arguments += part.function.arguments or ""
    check_weather(name, json.loads(arguments))
    yield "streamed in pieces"
    history = [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]},
               {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    answer = client.chat.completions.create(**{**asked, "messages": history}, tool_choice="none")
    assert answer.choices[0].message.tool_calls is None
    yield "their results"


def check_openai_formats(server):
    client = openai_client(server)
    asked = dict(model=MODEL, messages=MESSAGES, max_completion_tokens=200)
    for seed in range(5):
        parsed = client.chat.completions.parse(**asked, seed=seed, response_format=verdict_model()).choices[0].message.parsed
        assert parsed.answer in ("yes", "no") and isinstance(parsed.sure, bool)
    yield "chat.completions.parse"
    parsed = client.responses.parse(model=MODEL, input="Is the sky blue?", text_format=verdict_model()).output_parsed
    assert parsed.answer in ("yes", "no")
    yield "responses.parse"
    choice = client.chat.completions.create(**asked, extra_body={"guided_choice": ["red", "blue"]}).choices[0].message.content
    assert choice in ("red", "blue"), choice
    yield "guided_choice"


def check_openai_completions(server):
    client = openai_client(server)
    asked = dict(model=MODEL, prompt="The sky", seed=1, max_tokens=8)
    answer = client.completions.create(**asked)
    text = answer.choices[0].text
    assert answer.object == "text_completion" and answer.usage.completion_tokens <= 8
    assert "".join(part.choices[0].text for part in client.completions.create(**asked, stream=True)) == text
    ids = list(b"The sky")
    assert client.completions.create(**{**asked, "prompt": ids}).choices[0].text == text
    many = client.completions.create(**{**asked, "prompt": ["The sky", "A"]}, n=2)
    assert [one.index for one in many.choices] == [0, 1, 2, 3] and many.choices[0].text == text
    yield "completions of a text, of token ids, of several; streamed"
    echoed = client.completions.create(**{**asked, "prompt": [ids, ids[:3]], "max_tokens": 1}, echo=True, logprobs=1, temperature=0)
    for choice, row in zip(echoed.choices, (ids, ids[:3])):
        logprobs = choice.logprobs
        assert len(logprobs.tokens) == len(row) + 1 and choice.text.startswith(bytes(row).decode())
        assert logprobs.token_logprobs[0] is None and logprobs.top_logprobs[0] is None
        assert all(value <= 0 for value in logprobs.token_logprobs[1:]) and logprobs.text_offset[:3] == [0, 1, 2]
    none = client.completions.create(**{**asked, "prompt": ids, "max_tokens": 0}, echo=True, logprobs=1)
    assert none.choices[0].text == "The sky" and len(none.choices[0].logprobs.tokens) == len(ids)
    yield "echo with the log probabilities of the prompt, also of it alone"
    best = client.completions.create(**asked, n=1, best_of=3)
    assert len(best.choices) == 1
    yield "best_of"


def check_openai_responses(server):
    import openai

    client = openai_client(server)
    asked = dict(model=MODEL, instructions="Be terse.", input="Is the sky blue?", max_output_tokens=12, extra_body={"seed": 1})
    answer = client.responses.create(**asked)
    assert answer.object == "response" and answer.status in ("completed", "incomplete") and answer.usage.output_tokens <= 12
    events = list(client.responses.create(**asked, stream=True))
    assert events[0].type == "response.created" and events[-1].type == "response." + answer.status
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == answer.output_text == events[-1].response.output_text
    with client.responses.stream(**asked) as stream:
        assert stream.get_final_response().output_text == deltas
    yield "responses, streamed too"
    tool = {"type": "function", **TOOLS[0]["function"], "strict": True}
    called = client.responses.create(model=MODEL, input="Weather?", tools=[tool], tool_choice="required", parallel_tool_calls=False)
    call = [item for item in called.output if item.type == "function_call"][0]
    check_weather(call.name, json.loads(call.arguments))
    turns = [{"role": "user", "content": "Weather?"}, *called.output,
             {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
    assert client.responses.create(model=MODEL, input=turns, tools=[tool], tool_choice="none", max_output_tokens=4).id
    yield "function calls and their results"
    count = client.responses.input_tokens.count(model=MODEL, input="Is the sky blue?", instructions="Be terse.")
    assert count.input_tokens == answer.usage.input_tokens
    yield "input_tokens.count: as many as the answer took"
    error = raises(openai.BadRequestError, lambda: client.responses.create(**asked, previous_response_id="resp_1"))
    assert error.param == "previous_response_id", error
    yield "errors as its exceptions"


def check_langchain_chat(server):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=MODEL, base_url=server.url + "/v1", api_key="none", seed=1, max_tokens=200, max_retries=0)
    text = model.invoke("Is the sky blue?").content
    assert "".join(chunk.content for chunk in model.stream("Is the sky blue?")) == text
    yield "invoke, stream"
    for method in ("json_schema", "function_calling"):
        found = model.with_structured_output(verdict_model(), method=method).invoke("Is the sky blue?")
        assert found.answer in ("yes", "no"), found
    yield "with_structured_output by schema and by function"
    call, = model.bind_tools(TOOLS, tool_choice="weather").invoke("Weather?").tool_calls
    check_weather(call["name"], call["args"])
    yield "bind_tools"


def check_llama_index(server):
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(model=MODEL, api_base=server.url + "/v1", api_key="none", is_chat_model=True,
                       is_function_calling_model=True, max_tokens=12, additional_kwargs={"seed": 1}, max_retries=0)
    messages = [ChatMessage(role="user", content="Is the sky blue?")]
    text = model.chat(messages).message.content
    assert "".join(part.delta for part in model.stream_chat(messages)) == text
    yield "chat, stream_chat"


def check_litellm(server):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices
    import litellm

    asked = dict(model="openai/" + MODEL, api_base=server.url + "/v1", api_key="none", messages=MESSAGES, seed=1, max_tokens=12,
                 num_retries=0)
    text = litellm.completion(**asked).choices[0].message.content
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in litellm.completion(**asked, stream=True))
    assert streamed == text, (streamed, text)
    yield "completion, streamed too"
    error = raises(litellm.ContextWindowExceededError,
                   lambda: litellm.completion(**{**asked, "messages": [{"role": "user", "content": "a" * (CONTEXT + 1)}]}))
    assert error.status_code == 400
    yield "context_length_exceeded as its exception"


TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}"}}}}
test_split: test
output_type: {kind}
doc_to_text: "{{{{question}}}}"
{more}
metadata: {{version: 1}}
"""
CHOICES = """doc_to_choice: ["blue", "red"]
doc_to_target: answer
metric_list: [{metric: acc}]"""
FREE = """doc_to_target: "{{answer}}"
generation_kwargs: {max_gen_toks: 8, until: ["\\n"], do_sample: false}
metric_list: [{metric: exact_match}]"""


def check_lm_eval(server):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        data = place / "data.jsonl"
        data.write_text("".join(json.dumps({"question": f"Sky {i} is", "answer": "blue"}) + "\n" for i in range(4)))
        for name, kind, more in (("choices", "multiple_choice", CHOICES), ("free", "generate_until", FREE)):
            (place / f"{name}.yaml").write_text(TASK.format(name=name, kind=kind, more=more, data=data))
        common = f"model={MODEL},num_concurrent=2,max_retries=1,tokenizer={server.folder},tokenizer_backend=huggingface"
        for task, model, arguments in (
                ("choices,free", "local-completions", f"base_url={server.url}/v1/completions,{common}"),
                ("free", "local-chat-completions", f"base_url={server.url}/v1/chat/completions,{common}")):
            run = subprocess.run([sys.executable, "-m", "lm_eval", "--model", model, "--model_args", arguments, "--tasks", task,
                                  "--include_path", folder, "--output_path", folder,
                                  *(["--apply_chat_template"] if "chat" in model else [])],
                                 capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
            yield f"{model}: {task}"


CHECKS = {
    "openai chat": check_openai_chat,
    "openai async": check_openai_async,
    "openai tools": check_openai_tools,
    "openai formats": check_openai_formats,
    "openai completions": check_openai_completions,
    "openai responses": check_openai_responses,
    "langchain-openai chat": check_langchain_chat,
    "llama-index-llms-openai-like": check_llama_index,
    "litellm": check_litellm,
    "lm_eval": check_lm_eval,
}
