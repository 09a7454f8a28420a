"""Chats with a server by OpenAI's streaming API, over plain sockets of asyncio: what it costs is small beside a server."""
import asyncio
import json
import time


class Chat:
    """One answer: its text, when its pieces came (seconds since the request), and what the server counted."""

    def __init__(self):
        self.text, self.times, self.finish, self.usage, self.left = "", [], None, None, False

    @property
    def first(self):
        return self.times[0] if self.times else None

    def gaps(self):
        return [later - earlier for earlier, later in zip(self.times, self.times[1:])]


class Refused(Exception):
    """The server answered with another status than 200."""


async def stream_chat(port, body, leave_after=None, headers=""):
    """Asks and reads to the end, or leaves after so many pieces without a word. Raises Refused, and ConnectionError where
    the answer breaks off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    chat, began = Chat(), time.perf_counter()
    try:
        text = json.dumps({**body, "stream": True, "stream_options": {"include_usage": True}}).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     b"Connection: close\r\n" + headers.encode() + b"Content-Length: %d\r\n\r\n" % len(text) + text)
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        while (await reader.readline()).strip():
            pass
        if status != 200:
            raise Refused(status, (await reader.read()).decode(errors="replace"))
        while line := await reader.readline():
            if not line.startswith(b"data: "):
                continue  # the sizes of chunks, blank lines, keep-alives
            data = line[6:].strip()
            if data == b"[DONE]":
                return chat
            event = json.loads(data)
            if "error" in event:
                raise ConnectionError(event["error"])
            chat.usage = event.get("usage") or chat.usage
            for choice in event.get("choices", []):
                chat.finish = choice.get("finish_reason") or chat.finish
                if piece := choice["delta"].get("content"):
                    chat.text += piece
                    chat.times.append(time.perf_counter() - began)
            if leave_after is not None and len(chat.times) >= leave_after:
                chat.left = True
                return chat
        raise ConnectionError("the answer broke off")
    finally:
        writer.close()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
