"""A web server for tests: the files of a folder, by range, with the faults that the first part of the path names.

/ok/NAME          as it should be
/short-3/NAME     the first 3 bodies end half-way; `/short/NAME` all of them
/reset-3/NAME     the connection is reset half-way
/busy-3/NAME      503
/forbidden/NAME   403, as S3 says it
/norange/NAME     ranges are ignored
/changed-3/NAME   from the fourth HEAD and the fourth GET on the file has another tag

`/log` gives the requests so far, one per line. Prints its port, and ends with its standard input.
"""

import re
import socket
import struct
import sys
import threading
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOLDER = Path(sys.argv[1])
LOCK = threading.Lock()
SEEN = Counter()
LOG = []

FORBIDDEN = b"<Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist</Message></Error>"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        if self.path == "/log":
            self.send("\n".join(LOG).encode(), 200)
        else:
            self.answer()

    def send(self, body, status, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer(self):
        path = unquote(urlsplit(self.path).path)
        span = self.headers.get("Range", "")
        _, fault, name = path.split("/", 2)
        fault, _, times = fault.partition("-")
        with LOCK:
            SEEN[self.command, path] += 1
            count = SEEN[self.command, path]
            LOG.append(f"{self.command} {path} {span}".strip())
        strikes = not times or count <= int(times)
        if fault == "busy" and strikes:
            return self.send(b"<Error><Code>SlowDown</Code></Error>", 503)
        if fault == "forbidden":
            return self.send(FORBIDDEN, 403)
        file = FOLDER / name
        if not file.is_file():
            return self.send(b"<Error><Code>NoSuchKey</Code></Error>", 404)
        content = file.read_bytes()
        tag = '"second"' if fault == "changed" and not strikes else '"first"'
        headers = [("ETag", tag), ("Last-Modified", formatdate(1_700_000_000, usegmt=True)), ("Accept-Ranges", "bytes")]
        if self.headers.get("If-Match", tag) != tag:
            return self.send(b"", 412)
        status = 200
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", span)
        if found and fault != "norange":
            start, end = int(found[1]), min(int(found[2] or len(content)), len(content) - 1)
            headers.append(("Content-Range", f"bytes {start}-{end}/{len(content)}"))
            content, status = content[start : end + 1], 206
        if fault in ("short", "reset") and strikes and self.command == "GET":
            return self.break_off(content, status, headers, fault)
        return self.send(content, status, headers)

    def break_off(self, content, status, headers, fault):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        self.close_connection = True
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.handle_error = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
