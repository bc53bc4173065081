# SPDX-License-Identifier: Apache-2.0
"""A server of `tsctl studio` for a test, and requests to it as any client sends them."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'integration'))
import harness  # noqa: E402

PROGRAM = os.path.join(harness.BUILD, 'tools', 'studio', 'server', 'tracesmith-studio')
GOLDEN = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')
SOAK = os.environ.get('TS_SOAK') == '1'
CELLS, CELL = 256, struct.Struct('<IIII')


def skip_if_absent():
    """Ends a test program of a build without Studio."""
    if not os.path.exists(PROGRAM):
        print('skipped: Studio was not built: install libmicrohttpd-dev, esbuild, node-d3-hierarchy and node-d3-shape')
        sys.exit(harness.SKIPPED)


def golden(name):
    return os.path.join(GOLDEN, name + '.sbt')


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return '%d %r %r' % (self.status, self.headers, self.body[:300])


class Server:
    """`tsctl studio --no-browser` of traces, until the block ends."""

    def __init__(self, *traces, options=(), **env):
        self.process = subprocess.Popen([harness.TSCTL, 'studio', '--no-browser', *options, *traces], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=harness.environment(TRACESMITH_STUDIO=PROGRAM, **env), start_new_session=True)
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r'(?:http://127\.0\.0\.1:(\d+)/)?#token=([0-9a-f]{32})', self.address)
        if not match:
            self.process.kill()
            raise AssertionError('no address: %r, %s' % (self.address, self.process.communicate()[1]))
        self.port, self.token = match.group(1) and int(match.group(1)), match.group(2)
        self.host = '127.0.0.1:%s' % self.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the server; it has printed nothing, and its status is 0."""
        self.process.send_signal(signal.SIGTERM)
        try:
            out, err = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError('the server did not end') from None
        if not harness.SANITIZER:
            assert (self.process.returncode, out) == (0, ''), (self.process.returncode, out, err)
            assert not err or os.geteuid() == 0, err

    def ask(self, path, method='GET', body=None, token=True, headers=(), limit_s=60):
        """A request, with the token unless told otherwise."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=limit_s)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host='Host' in dict(headers), skip_accept_encoding=True)
            if token:
                connection.putheader('Authorization', 'Bearer ' + self.token)
            for name, value in headers:
                if value is not None:
                    connection.putheader(name, value)
            data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            if data is not None:
                connection.putheader('Content-Length', str(len(data)))
            connection.endheaders(data)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    def get(self, path):
        answer = self.ask('/api/' + path)
        assert answer.status == 200, (path, answer)
        return answer.json()

    def question(self, name, options=None, trace=0):
        answer = self.ask('/api/ask', 'POST', {'question': name, 'options': options or {}, 'trace': trace})
        assert answer.status == 200, (name, answer)
        return answer.json()

    def tiles(self, level, first, n, lanes):
        """Flags, and by lane the cells: (key, count, share, key_share)."""
        for _ in range(200):
            answer = self.ask('/api/tiles?level=%d&first=%d&n=%d&lanes=%s' % (level, first, n, ','.join(map(str, lanes))))
            assert answer.status == 200, answer
            magic, got_level, got_first, got_n, n_lanes, cells, flags = struct.unpack_from('<4sIQIIII', answer.body)
            assert (magic, got_level, got_first, got_n, n_lanes, cells) == (b'TST1', level, first, n, len(lanes), CELLS), answer
            if not flags & 1:
                break
        assert not flags & 1, 'estimates for ever'
        size = 8 + n * CELLS * CELL.size
        assert len(answer.body) == 32 + n_lanes * size
        found = {}
        for i in range(n_lanes):
            lane, zero = struct.unpack_from('<II', answer.body, 32 + i * size)
            assert (lane, zero) == (lanes[i], 0)
            found[lane] = list(CELL.iter_unpack(answer.body[40 + i * size:32 + (i + 1) * size]))
        return flags, found

    def raw(self, data, limit_s=10):
        """Sends bytes as they are; returns what comes until the end."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=limit_s) as sock:
            with contextlib.suppress(OSError):
                sock.sendall(data)
            got = b''
            with contextlib.suppress(OSError):
                while chunk := sock.recv(65536):
                    got += chunk
            return got


def rows(path, *options):
    """The rows of a trace as `tsctl view --json` prints them."""
    result = harness.tsctl('view', '--json', *options, path)
    assert result.status == 0, result
    return [json.loads(line) for line in result.out.splitlines()]
