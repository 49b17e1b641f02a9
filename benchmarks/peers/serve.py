"""A model behind an OpenAI-compatible endpoint on loopback, by transformers alone: `python serve.py MODEL QUESTIONS`.

Writes its port as the first line. One request at a time, greedy, without log-probabilities. Requests are text, as
option-order-check sends them; the server adds the picture of the question, which it finds by question and options in
QUESTIONS (JSONL).
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor


def key(question: str, options: list[str]) -> tuple[str, ...]:
    return (question.strip(), *sorted(options))


def pictures(questions: str) -> dict[tuple[str, ...], Image.Image]:
    lines = Path(questions).read_text(encoding="utf-8").splitlines()
    return {
        key(row["question"], row["options"]): Image.open(row["image"]).convert("RGB") for row in map(json.loads, lines)
    }


class Answers:
    """The model, one request at a time."""

    def __init__(self, folder: str, questions: str) -> None:
        self.pictures = pictures(questions)
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self.lock = threading.Lock()

    @torch.inference_mode()
    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the completion of a request."""
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 64
        asked = body["messages"][-1]["content"]
        content = [{"type": "text", "text": asked}]
        question, *rest = asked.split("\n")
        found = self.pictures.get(key(question, [line.split(". ", 1)[1] for line in rest if ". " in line]))
        if found is not None:
            content.insert(0, {"type": "image"})
        messages = [*body["messages"][:-1], {"role": "user", "content": content}]
        text = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        made = self.processor(text=[text], images=None if found is None else [found], return_tensors="pt")
        with self.lock:
            out = self.model.generate(**made, max_new_tokens=limit, do_sample=False)
        new = out[0, made["input_ids"].shape[1] :]
        message = {"role": "assistant", "content": self.processor.tokenizer.decode(new, skip_special_tokens=True)}
        finish = "length" if len(new) == limit and new[-1] != self.model.generation_config.eos_token_id else "stop"
        usage = {"prompt_tokens": made["input_ids"].shape[1], "completion_tokens": len(new)}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {"id": "0", "object": "chat.completion", "choices": [choice], "usage": usage}


def handler(answers: Answers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            """There is nothing to be got."""
            self.reply(404, {"error": {"message": "nothing here"}})

        def do_POST(self) -> None:
            """Answers a chat completion."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if not self.path.endswith("/chat/completions"):
                self.reply(404, {"error": {"message": "nothing here"}})
            elif isinstance(body["messages"][-1]["content"], list) or body.get("logprobs"):
                self.reply(400, {"error": {"message": "logprobs and pictures are not supported"}})
            else:
                self.reply(200, answers(body))

        def reply(self, status: int, body: dict[str, Any]) -> None:
            """Sends JSON."""
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def main() -> None:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(Answers(*sys.argv[1:])))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
