"""What transformers' apply_chat_template makes of a template and a request."""
import functools

import tokenizers
import transformers
from transformers.utils import chat_template_utils

SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


@functools.lru_cache(maxsize=None)
def tokenizer(tokens):
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, **dict(tokens))


def render(template, request, tokens=None):
    """The text, or None where the reference refuses. `template` may be a dict of templates by name."""
    return render_or_error(template, request, tokens)[0]


def render_or_error(template, request, tokens=None):
    reference = tokenizer(tuple(sorted((SPECIAL_TOKENS if tokens is None else tokens).items())))
    reference.chat_template = template
    request = dict(request)
    try:
        return reference.apply_chat_template(request.pop("messages"), tokenize=False, **request), None
    except Exception as error:  # noqa: BLE001 - whatever the template or the reference raises
        return None, f"{type(error).__name__}: {error}"


def generated(template, request, tokens=None):
    """The spans of {% generation %} blocks in bytes."""
    request = dict(request)
    messages = chat_template_utils._normalize_chat_messages(request.pop("messages"))
    variables = {**(SPECIAL_TOKENS if tokens is None else tokens), **request}
    texts, spans = chat_template_utils.render_jinja_template(
        conversations=[messages], chat_template=template, return_assistant_tokens_mask=True, **variables)
    text = texts[0]
    return [[len(text[:begin].encode()), len(text[:end].encode())] for begin, end in spans[0]]
