#!/usr/bin/env python3
"""Many chats at once, some of which leave: each answer must be that of the same chat alone, and nothing may be left over.

usage: chats.py --alate PROGRAM --model MODEL [--seconds 600] [--chats 64] [--tokens 48] [--idle 0]

Starts a server, asks every question once alone, then keeps so many chats open that take questions and seeds at random; one
in five leaves in the middle. At the end nothing may be running or hold pages of requests, and memory may not have grown
beyond what the first tenth of the time needed. --idle: so many further streams that wait meanwhile, and what they cost.
"""
import argparse
import asyncio
import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.request

from chat_client import Refused, percentile, stream_chat

QUESTIONS = ["What is the capital of France?", "Name three colours.", "Write a sentence about the sea.",
             "How does a bicycle stay upright?", "Tell me a joke.", "What is 12 times 12?", "Who wrote Hamlet?",
             "Explain rain to a child.", "List four animals that swim.", "What do bees do in winter?"]


def body(args, question, seed):
    model = {"model": args.model_name} if args.model_name else {}
    return {**model, "max_tokens": args.tokens, "seed": seed, "temperature": 0.8,
            "messages": [{"role": "system", "content": "You answer in one sentence."}, {"role": "user", "content": question}]}


def private_bytes(process):
    text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    return sum(int(value) * 1024 for value in re.findall(r"^Private_\w+:\s+(\d+)", text, re.M))


def metric(port, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    found = re.findall(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+]+)$", text, re.M)
    return sum(map(float, found)) if found else None


def start(args):
    server = subprocess.Popen([args.alate, "serve", args.model, "--port", "0", *args.serve], stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    for line in server.stderr:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
            return server, int(found.group(1))
    sys.exit("the server did not start")


async def drain(stream):
    while await asyncio.to_thread(stream.readline):
        pass


async def run(args, server, port):
    reader = asyncio.create_task(drain(server.stderr))
    alone, wrong, done, left, gaps, firsts = {}, [], 0, 0, [], []
    pairs = [(question, seed) for question in QUESTIONS for seed in (1, 2)]
    for pair in pairs:
        alone[pair] = (await stream_chat(port, body(args, *pair))).text
    until, after_first = time.monotonic() + args.seconds, None
    draw = random.Random(7)

    async def keep_chatting():
        nonlocal done, left
        while time.monotonic() < until:
            pair = draw.choice(pairs)
            leave_after = draw.randrange(1, args.tokens // 2) if draw.random() < 0.2 else None
            try:
                chat = await stream_chat(port, body(args, *pair), leave_after)
            except (Refused, ConnectionError) as error:
                wrong.append((pair, repr(error)))
                await asyncio.sleep(0.1)
                continue
            if chat.left:
                left += 1
                if not alone[pair].startswith(chat.text):
                    wrong.append((pair, chat.text))
                continue
            done += 1
            gaps.extend(chat.gaps())
            firsts.append(chat.first)
            if chat.text != alone[pair]:
                wrong.append((pair, chat.text))

    chats = [asyncio.create_task(keep_chatting()) for _ in range(args.chats)]
    await asyncio.sleep(args.seconds / 10)
    after_first = private_bytes(server.pid)
    if args.idle:
        long = {**body(args, "Count to a million.", 1), "max_tokens": 1}
        idle = [asyncio.create_task(stream_chat(port, long, headers="X-Priority: batch\r\n")) for _ in range(args.idle)]
        await asyncio.sleep(3)
        print(f"{args.idle} waiting streams: {(private_bytes(server.pid) - after_first) / 1e6:.1f} MB")
        await asyncio.gather(*idle, return_exceptions=True)
    await asyncio.gather(*chats)
    await asyncio.sleep(1)
    at_end = private_bytes(server.pid)
    running = metric(port, "alate_sequences_running")
    print(f"{done} answers, {left} left in the middle, {len(wrong)} wrong; first token {1e3 * percentile(firsts, .5):.0f} ms"
          f" (p99 {1e3 * percentile(firsts, .99):.0f}), between tokens p50 {1e3 * percentile(gaps, .5):.1f} ms, p99"
          f" {1e3 * percentile(gaps, .99):.1f} ms; memory {after_first / 1e6:.0f} MB after a tenth of the time,"
          f" {at_end / 1e6:.0f} MB at the end; running at the end: {running}")
    for pair, text in wrong[:5]:
        print("wrong:", pair, repr(text[:200]), "alone:", repr(alone[pair][:200]))
    server.terminate()
    await reader
    return not wrong and done > 0 and not running and at_end <= after_first * 1.1 + 20e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alate", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--model-name", default="", help="as requests name it; else the server's only model")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--chats", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("serve", nargs="*", help="further options of serve, after --")
    args = parser.parse_args()
    server, port = start(args)
    try:
        sys.exit(0 if asyncio.run(run(args, server, port)) else 1)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
