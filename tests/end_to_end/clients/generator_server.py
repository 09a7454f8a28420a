"""A server of a tiny language model, whose answers make no sense but have their shapes."""
import json
import pathlib
import sys
import tempfile

from running_server import RunningServer
from task_server import GOLDEN, write_safetensors

sys.path.insert(0, str(GOLDEN))

from tiny_weights import weight  # noqa: E402

MODEL = "tiny/chat"
CONTEXT = 4096
WIDTH, LAYERS, HEADS, INNER, SEED = 32, 2, 4, 40, 7
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# ChatML, with tools as models of the family of Qwen 2.5 have them.
TEMPLATE = """{%- if tools %}
{{- '<|im_start|>system\\n' }}
{{- messages[0]['content'] if messages[0]['role'] == 'system' else 'You are helpful.' }}
{{- '\\n\\n# Tools\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message['role'] == 'assistant' and message['tool_calls'] %}
{{- '<|im_start|>assistant\\n' }}{{- message['content'] or '' }}
{%- for call in message['tool_calls'] %}
{{- '<tool_call>\\n{"name": "' + call['function']['name'] + '", "arguments": ' }}{{- call['function']['arguments'] | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- elif message['role'] == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message['content'] + '\\n</tool_response><|im_end|>\\n' }}
{%- elif not (tools and loop.first and message['role'] == 'system') %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def byte_characters():
    """The characters of byte-level vocabularies, by byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(0x100 + i) for i, byte in enumerate(others)}}


def tokenizer():
    characters = byte_characters()
    vocabulary = {characters[byte]: byte for byte in range(256)}
    return {"version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
            "added_tokens": [{"id": 256 + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": True} for i, text in enumerate(SPECIAL)],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": []}}


def shapes(vocabulary):
    made = {"model.embed_tokens.weight": (vocabulary, WIDTH), "model.norm.weight": (WIDTH,)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        made |= {layer + f"self_attn.{name}_proj.weight": (WIDTH, WIDTH) for name in "qkvo"}
        made |= {layer + "mlp.gate_proj.weight": (INNER, WIDTH), layer + "mlp.up_proj.weight": (INNER, WIDTH),
                 layer + "mlp.down_proj.weight": (WIDTH, INNER)}
        made |= {layer + name + ".weight": (WIDTH,) for name in ("input_layernorm", "post_attention_layernorm")}
    return made


def write_generator(folder):
    """A model of the family of Llama whose tokens are bytes."""
    folder.mkdir(parents=True)
    vocabulary = 256 + len(SPECIAL)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": vocabulary, "hidden_size": WIDTH,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
              "intermediate_size": INNER, "max_position_embeddings": CONTEXT, "tie_word_embeddings": True,
              "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 256, "eos_token_id": 258}
    texts = {"config.json": config, "tokenizer.json": tokenizer(),
             "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>",
                                       "model_max_length": CONTEXT},
             "generation_config.json": {"do_sample": True, "temperature": 1.0, "eos_token_id": [258, 256]}}
    for name, value in texts.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    write_safetensors(folder / "model.safetensors",
                      {name: weight(name, shape, SEED) for name, shape in shapes(vocabulary).items()})


class GeneratorServer(RunningServer):
    """`alate serve` with the model tiny/chat."""

    def __init__(self, program):
        self.parent = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.parent.name) / MODEL
        write_generator(folder)
        super().__init__(program, folder)

    def __exit__(self, *what):
        super().__exit__(*what)
        self.parent.cleanup()
