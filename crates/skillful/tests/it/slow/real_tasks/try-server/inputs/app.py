"""A counter of visits."""
import http.server
import json
import pathlib
import sys

VISITS = pathlib.Path("visits.json")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {"status": "ok"})
        if self.path == "/visit":
            visits = json.loads(VISITS.read_text()) if VISITS.exists() else 0
            VISITS.write_text(json.dumps(visits + 1))
            return self.answer(200, {"visits": visits + 1})
        return self.answer(404, {"error": "not found"})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
