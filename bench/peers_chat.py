"""Compares `alate serve` and llama.cpp's server: clients that chat at the same time, by OpenAI's streaming API.

usage: peers_chat.py --alate PROGRAM --llama LLAMA_SERVER --model FILE.gguf [--clients 8] [--tokens 64] [--rounds 5]

Each round both servers get the same questions from so many clients at once, in turns, every other round in the opposite order; the
other one is idle meanwhile. Prints tokens a second of all clients together, the time to the first token (median of a
round's clients) and alate/llama of each: median [smallest..largest] over the rounds. Greedy; no question is asked twice, so no
answer comes from a cache of prompts. README.md beside this file says how to read ratios.
"""
import argparse
import asyncio
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "load"))
from chat_client import percentile, stream_chat  # noqa: E402


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, port):
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).status == 200:
                return server
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    server.kill()
    sys.exit(f"{command[0]} does not answer")


async def measure(port, args, number):
    def body(client):
        words = " ".join(f"item {(number * 97 + client * 31 + i) % 1000}" for i in range(args.words))
        return {"messages": [{"role": "user", "content": f"Question {number}.{client}: tell a long story with {words}."}],
                "max_tokens": args.tokens, "temperature": 0, "ignore_eos": True}

    began = time.perf_counter()
    chats = await asyncio.gather(*(stream_chat(port, body(client)) for client in range(args.clients)))
    took = time.perf_counter() - began
    gaps = [gap for chat in chats for gap in chat.gaps()]
    return {"tokens a second": sum(chat.usage["completion_tokens"] for chat in chats) / took,
            "first token, ms": 1e3 * statistics.median(chat.first for chat in chats),
            "between tokens p99, ms": 1e3 * percentile(gaps, .99)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alate", required=True)
    parser.add_argument("--llama", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--words", type=int, default=20, help="of the list in each question: about three tokens each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    ports = {"alate": free_port(), "llama": free_port()}
    servers = [start([args.alate, "serve", args.model, "--port", str(ports["alate"]), "--threads", str(args.threads)], ports["alate"]),
               start([args.llama, "-m", args.model, "--port", str(ports["llama"]), "-t", str(args.threads), "-np", str(args.clients),
                      "-c", str(1024 * args.clients), "--no-webui"], ports["llama"])]
    results = {name: [] for name in ports}
    try:
        for number in range(args.rounds + 1):
            for name in (list(ports), list(ports)[::-1])[number % 2]:
                result = asyncio.run(measure(ports[name], args, number))
                if number > 0:  # the first one warms up
                    results[name].append(result)
    finally:
        for server in servers:
            server.kill()
    for what in results["alate"][0]:
        values = {name: [round[what] for round in results[name]] for name in ports}
        ratios = [mine / other for mine, other in zip(values["alate"], values["llama"])]
        print(f"{what:24} alate {statistics.median(values['alate']):8.1f}  llama {statistics.median(values['llama']):8.1f}  ratio "
              f"{statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]")


if __name__ == "__main__":
    main()
