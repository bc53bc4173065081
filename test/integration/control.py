# SPDX-License-Identifier: Apache-2.0
"""A client of the control socket: just enough of proto/rpc for requests that come thousands of times."""
import socket
import struct
import time

import harness
import wire
from wire import number

HEADER = struct.Struct('<IHBBIIII')
MAGIC, VERSION, REQUEST, ANSWER = 0x50525354, 1, 1, 2
LIST, FLUSH, START, STOP, QUERY, CANCEL = 2, 4, 6, 7, 8, 9
ERROR, SESSIONS, FLUSHED, SWITCHED, STATE, ROWS, QUERY_END, CANCELLED = 1, 3, 5, 7, 8, 10, 14, 15
MORE = 1
# A daemon hangs up on those who are silent for a minute.
SILENT_S = 30


def field(key, data):
    return number(key << 3 | 2) + number(len(data)) + data


def fields(data):
    """{number: value} of a message; varints and bytes."""
    return dict(wire.fields(data))


class Control:
    def __init__(self, path):
        self.path, self.id = path, 0
        self.connect()

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(harness.SECONDS)
        self.socket.connect(self.path)
        self.used = time.monotonic()

    def close(self):
        self.socket.close()

    def receive(self, n_bytes):
        data = b''
        while len(data) < n_bytes:
            more = self.socket.recv(n_bytes - len(data))
            if not more:
                raise AssertionError('the daemon hung up')
            data += more
        return data

    def send(self, body, fds=(), n_fds=None, deadline_ms=0):
        """Sends a request, which may lie about how many descriptors come with it. Returns its number."""
        self.id += 1
        self.used = time.monotonic()
        data = HEADER.pack(MAGIC, VERSION, REQUEST, len(fds) if n_fds is None else n_fds, self.id, deadline_ms,
                           len(body), 0) + body
        sent = socket.send_fds(self.socket, [data], fds) if fds else 0
        self.socket.sendall(data[sent:])
        return self.id

    def answer(self):
        """(request's number, whether more follow, fields) of the next answer."""
        header = HEADER.unpack(self.receive(HEADER.size))
        if header[:3] != (MAGIC, VERSION, ANSWER) or header[3]:
            raise AssertionError('answered %s' % (header,))
        return header[4], bool(header[7] & MORE), fields(self.receive(header[6]))

    def ask(self, body):
        if time.monotonic() - self.used > SILENT_S:
            self.close()
            self.connect()
        self.send(body)
        header = HEADER.unpack(self.receive(HEADER.size))
        answer = fields(self.receive(header[6]))
        if header[2] != ANSWER or header[4] != self.id or ERROR in answer:
            raise AssertionError('answered %s %s' % (header, answer))
        return answer

    def switch(self, which, pid=0, timeout_ms=30000):
        """Returns (sessions, changed, timed_out)."""
        wish = (number(2 << 3) + number(pid) if pid else b'') + \
            number(3 << 3) + number(timeout_ms)
        switched = fields(self.ask(field(which, wish))[SWITCHED])
        return tuple(switched.get(key, 0) for key in (1, 2, 3))

    def rows(self):
        """Of the last session that is listed, so far."""
        return fields(fields(self.ask(field(LIST, b''))[SESSIONS])[1])[8]

    def flush(self, timeout_ms=60000):
        """All that was done until now is in the files, its losses too; returns (sessions, timed_out)."""
        flushed = fields(self.ask(field(FLUSH, number(2 << 3) + number(timeout_ms)))[FLUSHED])
        return tuple(flushed.get(key, 0) for key in (1, 2))

    def start(self, pid=0, timeout_ms=30000):
        return self.switch(START, pid, timeout_ms)

    def stop(self, pid=0, timeout_ms=30000):
        return self.switch(STOP, pid, timeout_ms)
