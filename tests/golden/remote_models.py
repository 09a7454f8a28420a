"""Models that transformers does not have, because their code comes with them: written anew from the published code, in
plain attention and float32 or float64. Parameters have the names of that code.
"""
import math
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F


def alibi_slopes(heads):
    """A slope for each head (arXiv:2108.12409), as modeling_bert.py of jinaai/jina-bert-implementation has them."""
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    lower = 2 ** math.floor(math.log2(heads))
    return of_power(lower) + of_power(2 * lower)[0::2][: heads - lower]


def alibi(heads, length, dtype):
    place = torch.arange(length)
    return -torch.tensor(alibi_slopes(heads), dtype=dtype)[:, None, None] * (place[None, :] - place[:, None]).abs()


def hidden(mask, dtype):
    """[batch, 1, 1, length]: the lowest number at masked places, as transformers adds it."""
    return (1 - mask[:, None, None, :].to(dtype)) * torch.finfo(dtype).min


def attend(query, key, value, heads, bias):
    """Attention over [batch, length, width], with a bias of pairs."""
    batch, length, width = query.shape
    split = [x.view(batch, length, heads, -1).transpose(1, 2) for x in (query, key, value)]
    scores = split[0] @ split[1].transpose(2, 3) / math.sqrt(width // heads) + bias
    return (scores.softmax(-1) @ split[2]).transpose(1, 2).reshape(batch, length, width)


def layer_norm(config, width=None):
    return nn.LayerNorm(width or config.hidden_size, eps=config.layer_norm_eps)


class Parts(nn.Module):
    """A module that only holds others, by name."""

    def __init__(self, /, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


# ---- JinaBERT: jinaai/jina-bert-implementation and jinaai/jina-bert-v2-qk-post-norm ---------------------------------

class JinaLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.norms_queries = config, "qk-post-norm" in config.auto_map["AutoModel"]
        size, wide = config.hidden_size, config.intermediate_size
        attention = {name: nn.Linear(size, size) for name in ("query", "key", "value")}
        if self.norms_queries:
            attention.update(layer_norm_q=layer_norm(config), layer_norm_k=layer_norm(config))
            self.layer_norm_1, self.layer_norm_2 = layer_norm(config), layer_norm(config)
        self.attention = Parts(self=Parts(**attention), output=Parts(dense=nn.Linear(size, size), LayerNorm=layer_norm(config)))
        self.is_gated = config.feed_forward_type.endswith("glu")
        if self.norms_queries and self.is_gated:
            self.mlp = Parts(up_gated_layer=nn.Linear(size, 2 * wide, bias=False), down_layer=nn.Linear(wide, size))
        elif self.norms_queries:
            self.mlp = Parts(up_layer=nn.Linear(size, wide, bias=False), down_layer=nn.Linear(wide, size))
        elif self.is_gated:
            self.mlp = Parts(gated_layers=nn.Linear(size, 2 * wide, bias=False), wo=nn.Linear(wide, size), layernorm=layer_norm(config))
        else:
            self.intermediate = Parts(dense=nn.Linear(size, wide))
            self.output = Parts(dense=nn.Linear(wide, size), LayerNorm=layer_norm(config))

    def forward(self, x, bias):
        attention, output = self.attention.self, self.attention.output
        query, key = attention.query(x), attention.key(x)
        if self.norms_queries:
            query, key = attention.layer_norm_q(query), attention.layer_norm_k(key)
        mixed = attend(query, key, attention.value(x), self.config.num_attention_heads, bias)
        x_attended = output.LayerNorm(output.dense(mixed) + x)
        activate = {"geglu": F.gelu, "reglu": F.relu}.get(self.config.feed_forward_type, F.gelu)
        if not self.norms_queries:
            if not self.is_gated:
                return self.output.LayerNorm(self.output.dense(activate(self.intermediate.dense(x_attended))) + x_attended)
            gate, rest = self.mlp.gated_layers(x_attended).chunk(2, -1)
            return self.mlp.layernorm(self.mlp.wo(activate(gate) * rest) + x_attended)
        x = self.layer_norm_1(x + x_attended)
        if self.is_gated:
            rest, gate = self.mlp.up_gated_layer(x).chunk(2, -1)
            wide = rest * activate(gate)
        else:
            wide = activate(self.mlp.up_layer(x))
        return self.layer_norm_2(x + self.mlp.down_layer(wide))


class JinaBertModel(nn.Module):
    def __init__(self, config, pooler=True):
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.embeddings = Parts(word_embeddings=nn.Embedding(config.vocab_size, size),
                                token_type_embeddings=nn.Embedding(config.type_vocab_size, size), LayerNorm=layer_norm(config))
        self.encoder = Parts(layer=nn.ModuleList(JinaLayer(config) for _ in range(config.num_hidden_layers)))
        if pooler:
            self.pooler = Parts(dense=nn.Linear(size, size))

    def tie_weights(self):
        pass

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        x = self.embeddings.LayerNorm(self.embeddings.word_embeddings(input_ids) + self.embeddings.token_type_embeddings(types))
        bias = hidden(mask, x.dtype) + alibi(self.config.num_attention_heads, input_ids.shape[1], x.dtype)
        for layer in self.encoder.layer:
            x = layer(x, bias)
        pooled = torch.tanh(self.pooler.dense(x[:, 0])) if hasattr(self, "pooler") else None
        return SimpleNamespace(last_hidden_state=x, pooler_output=pooled)


class JinaHead(nn.Module):
    pooler = True

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bert = JinaBertModel(config, self.pooler)

    def tie_weights(self):
        pass


class JinaBertForMaskedLM(JinaHead):
    pooler = False
    _tied_weights_keys = {"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
                          "cls.predictions.decoder.bias": "cls.predictions.bias"}

    def __init__(self, config):
        super().__init__(config)
        self.cls = Parts(predictions=Parts(
            transform=Parts(dense=nn.Linear(config.hidden_size, config.hidden_size), LayerNorm=layer_norm(config))))
        self.cls.predictions.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, **inputs):
        transform = self.cls.predictions.transform
        x = transform.LayerNorm(F.gelu(transform.dense(self.bert(**inputs).last_hidden_state)))
        return SimpleNamespace(logits=F.linear(x, self.bert.embeddings.word_embeddings.weight, self.cls.predictions.bias))


class JinaBertForSequenceClassification(JinaHead):
    def __init__(self, config):
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, **inputs):
        return SimpleNamespace(logits=self.classifier(self.bert(**inputs).pooler_output))


class JinaBertForTokenClassification(JinaHead):
    pooler = False

    def __init__(self, config):
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, **inputs):
        return SimpleNamespace(logits=self.classifier(self.bert(**inputs).last_hidden_state))


class JinaBertForQuestionAnswering(JinaHead):
    pooler = False

    def __init__(self, config):
        super().__init__(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)

    def forward(self, **inputs):
        start, end = self.qa_outputs(self.bert(**inputs).last_hidden_state).unbind(-1)
        return SimpleNamespace(start_logits=start, end_logits=end)


# ---- NewModel: Alibaba-NLP/new-impl, without rope; alibi is JinaBERT's, which that code only reserves a name for --------

class NewLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        size, wide = config.hidden_size, config.intermediate_size
        names = {"qkv_proj": 3 * size} if config.pack_qkv else {"q_proj": size, "k_proj": size, "v_proj": size}
        self.attention = Parts(**{name: nn.Linear(size, width) for name, width in names.items()}, o_proj=nn.Linear(size, size))
        self.mlp = Parts(up_gate_proj=nn.Linear(size, 2 * wide, bias=False), down_proj=nn.Linear(wide, size))
        self.attn_ln, self.mlp_ln = layer_norm(config), layer_norm(config)

    def forward(self, x, bias):
        own = self.attention
        parts = own.qkv_proj(x).chunk(3, -1) if self.config.pack_qkv else (own.q_proj(x), own.k_proj(x), own.v_proj(x))
        x = self.attn_ln(x + own.o_proj(attend(*parts, self.config.num_attention_heads, bias)))
        rest, gate = self.mlp.up_gate_proj(x).chunk(2, -1)
        return self.mlp_ln(x + self.mlp.down_proj(F.gelu(gate) * rest))


class NewModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.embeddings = Parts(word_embeddings=nn.Embedding(config.vocab_size, size),
                                token_type_embeddings=nn.Embedding(config.type_vocab_size, size), LayerNorm=layer_norm(config))
        if config.position_embedding_type == "absolute":
            self.embeddings.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.encoder = Parts(layer=nn.ModuleList(NewLayer(config) for _ in range(config.num_hidden_layers)))

    def tie_weights(self):
        pass

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, position_ids=None):
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        x = self.embeddings.word_embeddings(input_ids) + self.embeddings.token_type_embeddings(types)
        bias, length = hidden(mask, x.dtype), input_ids.shape[1]
        if self.config.position_embedding_type == "absolute":
            x = x + self.embeddings.position_embeddings(torch.arange(length)[None] if position_ids is None else position_ids)
        else:
            bias = bias + alibi(self.config.num_attention_heads, length, x.dtype)
        x = self.embeddings.LayerNorm(x)
        for layer in self.encoder.layer:
            x = layer(x, bias)
        return SimpleNamespace(last_hidden_state=x)


# ---- Nomic's experts: nomic-ai/nomic-bert-2048 as nomic-embed-text-v2-moe configures it ------------------------------

class NomicExperts(nn.Module):
    """Every token through the best experts of the router, whose shares are not scaled to a sum of 1."""

    def __init__(self, config):
        super().__init__()
        size, self.wide, self.count, self.taken = config.hidden_size, config.intermediate_size, config.num_experts, config.moe_top_k
        self.router = Parts(layer=nn.Linear(size, self.count, bias=False))
        self.experts = Parts(mlp=Parts(w1=nn.Parameter(torch.empty(self.count * self.wide, size)),
                                       w2=nn.Parameter(torch.empty(self.count * self.wide, size))),
                             bias=nn.Parameter(torch.empty(size)))

    def forward(self, x):
        shares, chosen = self.router.layer(x).softmax(-1).topk(self.taken, dim=-1)
        out = torch.zeros_like(x)
        for i in range(self.count):
            rows = slice(i * self.wide, (i + 1) * self.wide)
            share = torch.where(chosen == i, shares, torch.zeros((), dtype=x.dtype)).sum(-1, keepdim=True)
            out = out + share * (F.gelu(x @ self.experts.mlp.w1[rows].T) @ self.experts.mlp.w2[rows])
        return out + self.experts.bias


class NomicLayer(nn.Module):
    def __init__(self, config, number):
        super().__init__()
        self.config, size = config, config.hidden_size
        self.attn = Parts(Wqkv=nn.Linear(size, 3 * size), out_proj=nn.Linear(size, size))
        has_experts = number % config.moe_every_n_layers == 1
        self.mlp = NomicExperts(config) if has_experts else Parts(fc1=nn.Linear(size, config.intermediate_size), fc2=nn.Linear(config.intermediate_size, size))
        self.has_experts, self.norm1, self.norm2 = has_experts, layer_norm(config), layer_norm(config)

    def forward(self, x, bias, places):
        query, key, value = self.attn.Wqkv(x).chunk(3, dim=-1)
        heads = self.config.num_attention_heads
        mixed = attend(turned(query, heads, places, self.config.rotary_emb_base), turned(key, heads, places, self.config.rotary_emb_base), value, heads, bias)
        x = self.norm1(self.attn.out_proj(mixed) + x)
        return self.norm2((self.mlp(x) if self.has_experts else self.mlp.fc2(F.gelu(self.mlp.fc1(x)))) + x)


def turned(x, heads, places, base):
    """Rotary positions of the halves of each head."""
    batch, length, width = x.shape
    pairs = width // heads // 2
    angles = places[:, None].to(x.dtype) / base ** (torch.arange(pairs, dtype=x.dtype) / pairs)
    cosines, sines = angles.cos()[:, None], angles.sin()[:, None]
    first, second = x.view(batch, length, heads, 2, pairs).unbind(3)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1).view(batch, length, width)


class NomicBertModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Parts(word_embeddings=nn.Embedding(config.vocab_size, config.hidden_size),
                                token_type_embeddings=nn.Embedding(config.type_vocab_size, config.hidden_size))
        self.emb_ln = layer_norm(config)
        self.encoder = Parts(layers=nn.ModuleList([NomicLayer(config, i) for i in range(config.num_hidden_layers)]))

    def tie_weights(self):
        pass

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, position_ids=None):
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        x = self.emb_ln(self.embeddings.word_embeddings(input_ids) + self.embeddings.token_type_embeddings(types))
        places = torch.arange(input_ids.shape[1])
        for layer in self.encoder.layers:
            x = layer(x, hidden(mask, x.dtype), places)
        return SimpleNamespace(last_hidden_state=x)
