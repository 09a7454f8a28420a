"""Conversations that the chat-template scripts render: requests in the form of `alate tokenize --template`."""

SYSTEM = {"role": "system", "content": "You are terse.  Answer in one line.\n"}
ASK = {"role": "user", "content": "What's the weather in Zürich — and <b>\"why\"</b>?"}
ANSWER = {"role": "assistant", "content": "Sunny, 21.5 °C. 🌞"}
THANKS = {"role": "user", "content": "  Danke!\n\nIn 東京 too?  "}

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather at a place & time.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "A city, as in \"Paris\""},
        "days": {"type": "integer", "minimum": 0, "maximum": 14, "default": 1},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
        "range": {"type": "array", "items": {"type": ["number", "null"]}},
        "options": {"type": "object", "properties": {"wind": {"type": "boolean"}}, "required": ["wind"]}},
        "required": ["city"]},
    "return": {"type": "string"}}}
CLOCK = {"type": "function", "function": {
    "name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}}


def call(name, arguments, **more):
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


CALL = {"role": "assistant", "content": "", "tool_calls": [
    call("get_weather", {"city": "Zürich", "days": 2, "range": [1.0, -0.5, None, 1e-07], "options": {"wind": True}},
         id="call00001")]}
TEXT_CALL = {"role": "assistant", "content": "Let me see.", "tool_calls": [
    call("get_weather", "{\"city\": \"Zürich\"}", id="call00001"), call("now", "{}", id="call00002")]}
RESULT = {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"sky\": \"clear\", \"t\": 21.5}"}
RESULT_2 = {"role": "tool", "name": "now", "tool_call_id": "call00002", "content": "12:00"}
NULLS = {"role": "assistant", "content": None, "tool_calls": [call("now", {}, id="call00003")], "refusal": None}
REASONED = {"role": "assistant", "reasoning_content": "The user asks\nfor weather.", "content": "It rains."}
THOUGHT = {"role": "assistant", "thinking": "Hm.", "content": "Snow."}
INLINE = {"role": "assistant", "content": "<think>\nLong thoughts\n</think>\n\nAnswer."}
PARTS = {"role": "user", "content": [{"type": "text", "text": "Look: "}, {"type": "image", "image": "x.png"},
                                     {"type": "text", "text": " what is it?"}]}
TEXT_PARTS = {"role": "user", "content": [{"type": "text", "text": "First."}, {"type": "text", "text": "Second."}]}
DOCUMENTS = [{"title": "Weather", "text": "It is <sunny>.", "doc_id": 0}, {"title": "Über", "text": "Zeit\n\n", "doc_id": 1}]

REQUESTS = [
    {"messages": [ASK]},
    {"messages": [ASK], "add_generation_prompt": True},
    {"messages": [SYSTEM, ASK], "add_generation_prompt": True},
    {"messages": [SYSTEM, ASK, ANSWER, THANKS], "add_generation_prompt": True},
    {"messages": [ASK, ANSWER, THANKS, ANSWER]},
    {"messages": [ASK, ANSWER], "continue_final_message": True},
    {"messages": [ASK, {"role": "assistant", "content": "It is \n "}], "continue_final_message": True},
    {"messages": [ASK], "tools": [WEATHER, CLOCK], "add_generation_prompt": True},
    {"messages": [SYSTEM, ASK, CALL, RESULT], "tools": [WEATHER], "add_generation_prompt": True},
    {"messages": [SYSTEM, ASK, TEXT_CALL, RESULT, RESULT_2, ANSWER], "tools": [WEATHER, CLOCK]},
    {"messages": [ASK, NULLS, RESULT_2], "tools": [CLOCK], "add_generation_prompt": True},
    {"messages": [ASK, CALL], "tools": [WEATHER]},
    {"messages": [ASK, REASONED, THANKS], "add_generation_prompt": True},
    {"messages": [ASK, REASONED]},
    {"messages": [ASK, THOUGHT, THANKS], "add_generation_prompt": True, "enable_thinking": False},
    {"messages": [SYSTEM, ASK, INLINE, THANKS], "add_generation_prompt": True, "enable_thinking": True},
    {"messages": [ASK, dict(REASONED, **CALL)], "tools": [WEATHER], "reasoning_effort": "high"},
    {"messages": [ASK, dict(REASONED, **CALL), RESULT], "tools": [WEATHER], "thinking": True, "add_generation_prompt": True},
    {"messages": [PARTS], "add_generation_prompt": True},
    {"messages": [TEXT_PARTS, ANSWER, TEXT_PARTS], "add_generation_prompt": True},
    {"messages": [dict(SYSTEM, content=[{"type": "text", "text": "Parts."}]), TEXT_PARTS], "add_generation_prompt": True},
    {"messages": [ASK], "documents": DOCUMENTS, "add_generation_prompt": True},
    {"messages": [SYSTEM, ASK], "documents": DOCUMENTS, "tools": [WEATHER], "add_generation_prompt": True},
    {"messages": [dict(SYSTEM, role="developer"), ASK], "add_generation_prompt": True},
    {"messages": [ANSWER, ASK]},
    {"messages": [ASK, ASK, ANSWER, ANSWER]},
    {"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]},
    {"messages": [SYSTEM]},
    {"messages": [{"role": "critic", "content": "boo"}]},
    {"messages": [ASK], "bos_token": "[B]", "date_string": "1 Jan 2025", "current_date": "2025-01-01", "builtin_tools": ["python"]},
    {"messages": [ASK, CALL, dict(RESULT, content={"sky": ["clear", 1.5, True, None]})], "tools": [WEATHER]},
    {"messages": [ASK, dict(ANSWER, tool_calls=[])], "tools": []},
]
