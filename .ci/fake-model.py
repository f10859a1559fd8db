#!/usr/bin/env python3
"""A model on loopback for trying real agents: it calls the MCP tool that loads a skill, once, and then
answers. It speaks OpenAI's Responses and Chat Completions. Usage: fake-model.py PORT LOG"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGUMENTS = json.dumps({"name": "csv-report"})


def tool_names(tools):
    """Names the agent offers; those of an MCP server may stand in a namespace."""
    for tool in tools or []:
        inner = tool.get("function", tool)
        if inner.get("type") == "namespace" or "tools" in inner:
            for name, _ in tool_names(inner.get("tools")):
                yield name, inner.get("name")
        elif "name" in inner:
            yield inner["name"], None


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        offered = [(name, space) for name, space in tool_names(body.get("tools"))]
        ours = [(n, s) for n, s in offered if "skillful" in f"{s or ''}{n}"]
        wanted = next(((n, s) for n, s in ours if n.endswith("skill")), None)
        text = json.dumps(body)
        done = "[Skill: csv-report" in text
        with open(sys.argv[2], "a") as log:
            log.write(json.dumps({"path": self.path, "ours": ours, "skill text came back": done}) + "\n")
        call = None if done or not wanted else wanted
        if self.path.endswith("/responses"):
            self.say_responses(call, done)
        else:
            self.say_chat(call, done, body.get("stream"))

    def reply(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def say_responses(self, call, done):
        if call:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call[0], "arguments": ARGUMENTS}
            if call[1]:
                item["namespace"] = call[1]
        else:
            said = "The skill is loaded." if done else "There is no skill tool."
            item = {"type": "message", "id": "m_1", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "r_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r_1", "usage": usage, "output": [item]}},
        ]
        self.reply("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def say_chat(self, call, done, stream):
        if call:
            function = {"name": call[0], "arguments": ARGUMENTS}
            message = {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        else:
            message = {"role": "assistant", "content": "The skill is loaded." if done else "There is no skill tool."}
        reason = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": "c_1", "created": 0, "model": "fake"}
        if not stream:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.reply("application/json", json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}))
        chunks = [
            {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        self.reply("text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
