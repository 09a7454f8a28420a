#!/usr/bin/env python3
"""Compares what Alate makes of huggingface_hub's cache with a cache that the real package has written.

Serves a model's folder over HTTP with the routes of the hub, lets huggingface_hub fetch it, with links and without,
and runs `alate list`, `verify`, `embed`, `rm` and `gc` on the result. Prints OK, or the first difference.

    python tests/golden/check_hub_cache.py build/release/bin/alate tests/golden/models/st_mean
"""

import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = ".safetensors"  # as with LFS: the ETag is a SHA-256


def digest_of(name, data):
    if name.endswith(LARGE):
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Hub(http.server.BaseHTTPRequestHandler):
    files = {}

    def log_message(self, *_):
        pass

    def answer(self, data, headers):
        self.send_response(200)
        for key, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if path.startswith("/api/models/acme/tiny/tree/"):
            tree = [{"type": "file", "path": name, "size": len(data), "oid": digest_of("", data)}
                    for name, data in self.files.items()]
            return self.answer(json.dumps(tree).encode(), {"Content-Type": "application/json"})
        if path.startswith("/api/models/acme/tiny"):
            siblings = [{"rfilename": name} for name in self.files]
            body = {"id": "acme/tiny", "modelId": "acme/tiny", "sha": COMMIT, "siblings": siblings, "private": False,
                    "disabled": False, "tags": [], "downloads": 0, "likes": 0}
            return self.answer(json.dumps(body).encode(), {"Content-Type": "application/json"})
        name = path.partition("/resolve/")[2].partition("/")[2]
        if name not in self.files:
            return self.send_error(404)
        data = self.files[name]
        headers = {"ETag": '"' + digest_of(name, data) + '"', "X-Repo-Commit": COMMIT}
        return self.answer(data, headers)

    do_HEAD = do_GET


FETCH = """
import sys
from huggingface_hub import file_download, snapshot_download
if sys.argv[1] == "no":
    file_download.are_symlinks_supported = lambda *_: False
snapshot_download("acme/tiny")
"""


def check(alate, model, links):
    Hub.files = {str(path.relative_to(model)): path.read_bytes() for path in model.rglob("*") if path.is_file()}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "ALATE_"))}
        environment |= {"HF_HOME": home, "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
                        "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "ALATE_MODELS_DIR": home + "/none"}
        subprocess.run([sys.executable, "-c", FETCH, "yes" if links else "no"], env=environment, check=True)
        cache = pathlib.Path(home, "hub")
        weights = cache / f"models--acme--tiny/snapshots/{COMMIT}/model.safetensors"
        assert weights.is_symlink() == links, weights

        def run(*arguments, code=0):
            done = subprocess.run([alate, *arguments], env=environment, capture_output=True, text=True)
            assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
            return done.stdout

        listed = json.loads(run("list", "--output", "json"))["models"]
        assert "acme/tiny" in [each["name"] for each in listed if each["place"] == "hub cache"], listed
        text = "the cat"
        direct = json.loads(run("embed", str(model), text, "--output", "json"))["embeddings"]
        for name in ["acme/tiny", "tiny", "hf:acme/tiny@main", "acme/tiny@" + COMMIT]:
            assert json.loads(run("embed", name, text, "--output", "json"))["embeddings"] == direct, name
        verified = json.loads(run("verify", "acme/tiny", "--output", "json", code=0 if links else 4))["files"]
        assert len(verified) == len(Hub.files)
        assert {each["verdict"] for each in verified} == {"good" if links else "no digest"}, verified
        if links:
            data = bytearray(weights.read_bytes())
            data[-1] ^= 1
            weights.resolve().write_bytes(bytes(data))
            verified = json.loads(run("verify", "acme/tiny", "--output", "json", code=7))["files"]
            assert [each["name"] for each in verified if each["verdict"] == "flipped"] == ["model.safetensors"], verified
        freed = json.loads(run("gc", "--older-than", "0s", "--dry-run", "--output", "json"))
        assert freed["items"] == [], freed
        run("rm", "acme/tiny")
        assert not (cache / "models--acme--tiny").exists()
    server.shutdown()


def main():
    alate, model = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for links in [True, False]:
        check(alate, model, links)
    print("OK")


if __name__ == "__main__":
    main()
