"""The real program: a server on a free port, and what the commands for single runs say about the same texts."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.request

import numpy as np

START_SECONDS = 120


class RunningServer:
    """`alate serve` with the models directory that a model's folder lies in. Ends with the block."""

    def __init__(self, program, model_folder, options=(), environment=None):
        self.program = program
        self.folder = pathlib.Path(model_folder).resolve()
        self.model = f"{self.folder.parent.name}/{self.folder.name}"
        self.models_dir = self.folder.parent.parent
        self.options = list(options)
        self.environment = dict(environment or {})
        self.lines = []

    def __enter__(self):
        # Settings of whoever runs this must not change what is checked.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ALATE_")} | self.environment
        command = [self.program, "serve", "--port", "0", "--models-dir", str(self.models_dir), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=environment)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.url = self._wait_for_url()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise RuntimeError("the server did not end within a minute of SIGTERM")
        if self.process.returncode != 0:
            raise RuntimeError(f"the server ended with {self.process.returncode}:\n" + "\n".join(self.lines[-20:]))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if len(self.lines) > 2000:
                del self.lines[:1000]

    def _wait_for_url(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            for line in list(self.lines):
                found = re.search(r"http://[\w.\-]+:\d+", line)
                if found:
                    return found.group(0)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.process.kill()
        raise RuntimeError("the server did not start:\n" + "\n".join(self.lines))

    @property
    def authority(self):
        return self.url.removeprefix("http://")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read()

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def embed(self, texts, *options):
        """The vectors that `alate embed` makes: float32 [texts, dimensions]."""
        with tempfile.TemporaryDirectory() as folder:
            lines = pathlib.Path(folder, "texts.jsonl")
            lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
            out = pathlib.Path(folder, "vectors.npy")
            subprocess.run([self.program, "embed", str(self.folder), "--file", str(lines), "--output", "npy", "--out",
                            str(out), *options], check=True, capture_output=True)
            return np.load(out)

    def forward(self, inputs):
        """What `alate forward` makes of named arrays: {name: array}."""
        with tempfile.TemporaryDirectory() as folder:
            given, made = pathlib.Path(folder, "in.npz"), pathlib.Path(folder, "out.npz")
            np.savez(given, **inputs)
            subprocess.run([self.program, "forward", str(self.folder), "--inputs", str(given), "--outputs", str(made)],
                           check=True, capture_output=True)
            return dict(np.load(made))
