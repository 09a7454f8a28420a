#!/usr/bin/env python3
"""Records what real clients send, and vectors as numpy and sentence-transformers encode them, in server/.

    python record_clients.py kserve     # needs tritonclient[http]
    python record_clients.py vectors    # needs sentence-transformers
"""
import base64
import json
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "server"


def save_request(name, inputs, outputs=None, **options):
    """The body of a request as tritonclient makes it, and how many bytes of it are JSON."""
    import tritonclient.http as http

    body, json_size = http.InferenceServerClient.generate_request_body(inputs, outputs=outputs, **options)
    (FOLDER / f"kserve_{name}.body").write_bytes(body)
    return {"name": name, "json_bytes": json_size}


def record_kserve():
    import tritonclient.http as http

    texts = np.array(["plain", "Grüße, 世界", "", "\N{GRINNING FACE} and \"quotes\"\n"], dtype=object)
    ids = np.array([[101, 7592, 102, 0], [101, 2088, 999, 102]])

    def tensor(name, values, datatype, binary):
        made = http.InferInput(name, list(values.shape), datatype)
        made.set_data_from_numpy(values, binary_data=binary)
        return made

    requests = []
    for binary in (True, False):
        kind = "binary" if binary else "json"
        wanted = [http.InferRequestedOutput("sentence_embedding", binary_data=binary)]
        requests.append(save_request(f"text_{kind}", [tensor("text", texts, "BYTES", binary)], wanted, request_id="7"))
        requests.append(save_request(f"column_{kind}", [tensor("text", texts.reshape(4, 1), "BYTES", binary)]))
        requests.append(save_request(f"ids_{kind}", [tensor("input_ids", ids, "INT64", binary)]))
        requests.append(save_request(f"ids32_{kind}", [
            tensor("input_ids", ids.astype(np.int32), "INT32", binary),
            # The other kind: JSON and binary tensors in one request.
            tensor("attention_mask", (ids != 0).astype(np.int64), "INT64", not binary),
        ], parameters={"asked_by": "a test"}))
    index = {"texts": list(texts), "ids": ids.tolist(), "requests": requests}
    (FOLDER / "kserve.json").write_text(json.dumps(index, indent=1) + "\n")


def record_vectors():
    from sentence_transformers.util import quantize_embeddings

    generator = np.random.default_rng(4)
    rows = generator.standard_normal((5, 21)).astype(np.float32)
    rows[1, :9] = 0
    rows[2] = -np.abs(rows[2])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    special = np.array([0.0, -0.0, 1e-45, 3.4028235e38, -1.0, 0.1], dtype=np.float32)
    ranges = np.array([[-1], [1]], dtype=np.float32) * np.ones(rows.shape[1], dtype=np.float32)
    padded = np.pad(rows, ((0, 0), (0, 3)))  # sentence-transformers packs whole bytes
    golden = {
        "rows": [[float(x) for x in row] for row in rows],
        "base64": [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows],
        "special": [float(x) for x in special],
        "special_base64": base64.b64encode(special.astype("<f4").tobytes()).decode(),
        "int8": quantize_embeddings(rows, precision="int8", ranges=ranges).tolist(),
        "uint8": quantize_embeddings(rows, precision="uint8", ranges=ranges).tolist(),
        "binary": quantize_embeddings(padded, precision="binary").tolist(),
        "ubinary": quantize_embeddings(padded, precision="ubinary").tolist(),
    }
    (FOLDER / "vectors.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    {"kserve": record_kserve, "vectors": record_vectors}[sys.argv[1]]()
