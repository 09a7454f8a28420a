"""A hub with one model, for servers that fetch: the routes of huggingface.co that `alate pull` asks."""
import hashlib
import http.server
import json
import pathlib
import threading

COMMIT = "a" * 40


class HubMirror:
    """Serves the files of a folder as the model `name`. Ends with the block."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        files = {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        listing = {"id": self.name, "sha": COMMIT, "siblings": [_listed(name, text) for name, text in files.items()]}
        model = self.name

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.answer(with_body=False)

            def do_GET(self):
                self.answer(with_body=True)

            def answer(self, with_body):
                path = self.path.partition("?")[0]
                start = f"/{model}/resolve/{COMMIT}/"
                if path.startswith(f"/api/models/{model}/revision/"):
                    status, body, etag = 200, json.dumps(listing).encode(), ""
                elif path.startswith(start) and path[len(start):] in files:
                    status, body = 200, files[path[len(start):]]
                    etag = _blob_digest(path[len(start):], body)
                else:
                    status, body, etag = 404, b"", ""
                begin, end = 0, len(body)
                asked = self.headers.get("Range", "")
                if status == 200 and asked.startswith("bytes="):
                    begin, last = (int(part) for part in asked[len("bytes="):].split("-"))
                    status, end = 206, last + 1
                self.send_response(status)
                if status == 206:
                    self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(body)}")
                self.send_header("Content-Length", str(end - begin))
                self.send_header("X-Repo-Commit", COMMIT)
                if etag:
                    self.send_header("ETag", f'"{etag}"')
                if status == 404:
                    self.send_header("X-Error-Code", "RepoNotFound")
                self.end_headers()
                if with_body:
                    self.wfile.write(body[begin:end])

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def _is_large(name):
    return name.endswith(".safetensors")


def _blob_digest(name, text):
    return hashlib.sha256(text).hexdigest() if _is_large(name) else hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


def _listed(name, text):
    entry = {"rfilename": name, "size": len(text), "blobId": hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()}
    if _is_large(name):
        entry["lfs"] = {"sha256": _blob_digest(name, text), "size": len(text)}
    return entry
