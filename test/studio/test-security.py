#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studio's server refuses all but its own page: a missing or wrong token, other names (DNS rebinding), other origins, other methods, other
users of the machine. Hostile requests get an error, and the server lives on."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest
import urllib.parse

import studio

studio.skip_if_absent()
import harness  # noqa: E402
import hostile_names  # noqa: E402

REQUESTS = ('trace', 'tiles?level=10&first=0&n=1&lanes=1', 'names?keys=1', 'rows?lane=1&from=0&to=1', 'row?op=1', 'row?lane=1&at=1', 'flame')
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")
HEADERS = {'content-security-policy': POLICY, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer',
           'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin', 'cache-control': 'no-store'}
# A user of the machine without rights, to whom tests that run as root change.
NOBODY = 65534


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Security(harness.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = studio.Server(studio.golden('train'))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        super().tearDownClass()

    def tearDown(self):
        self.assertEqual(self.server.ask('/api/trace').status, 200, 'the server does not live on')
        super().tearDown()

    def check(self, answer, status, body=None):
        self.assertEqual(answer.status, status, answer)
        for name, value in HEADERS.items():
            self.assertEqual(answer.headers.get(name), value, (name, answer))
        self.assertFalse([name for name in answer.headers if name.startswith('access-control-') or name == 'set-cookie'], answer)
        if body is not None:
            self.assertEqual(answer.body, body)
        elif status >= 400 and status != 401:
            self.assertEqual(list(json.loads(answer.body)), ['error'], answer)

    def test_token(self):
        token = self.server.token
        wrong = (None, '', token, 'Bearer', 'Bearer ', 'Bearer ' + token[:-1], 'Bearer ' + token + '0', 'Bearer ' + token.upper() + ' ',
                 'Bearer ' + '0' * 32, 'bearer ' + token, 'Basic ' + token, 'Bearer  ' + token, 'Bearer ' + token[::-1], 'Bearer ' + 'f' * 9000)
        for value in wrong:
            for request in REQUESTS[:1] if value else REQUESTS:
                self.check(self.server.ask('/api/' + request, token=False, headers=[('Authorization', value)]), 401, b'')
            self.check(self.server.ask('/api/ask', 'POST', {'question': 'info'}, token=False, headers=[('Authorization', value)]), 401, b'')
        for path in ('/api/trace?token=' + token, '/api/none', '/api/'):
            self.check(self.server.ask(path, token=False, headers=[('Cookie', 'token=' + token)]), 401, b'')
        for request in REQUESTS:
            self.assertIn(self.server.ask('/api/' + request).status, (200, 404))

    def test_tokens_differ(self):
        with studio.Server(studio.golden('train')) as other:
            self.assertNotEqual(other.token, self.server.token)
            self.check(other.ask('/api/trace', token=False, headers=[('Authorization', 'Bearer ' + self.server.token)]), 401, b'')

    def test_pages_hold_no_data(self):
        for path in ('/', '/index.html', '/studio.js', '/studio.css', '/licences.txt'):
            answer = self.server.ask(path, token=False)
            self.check(answer, 200)
            self.assertNotIn(b'train.sbt', answer.body)
            self.assertNotIn(self.server.token.encode(), answer.body)
        for path in ('/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd', '/studio.js/', '/.', '/main.c', '/favicon.ico', '/\\'):
            self.check(self.server.ask(path, token=False), 404)

    def test_names_of_other_servers(self):
        port = self.server.port
        for host in ('evil.example', 'evil.example:%d' % port, '127.0.0.1', '127.0.0.1:1', 'localhost', '127.0.0.1.evil.example:%d' % port,
                     'localhost:%d.evil.example' % port, '[::1]:%d' % port, '0.0.0.0:%d' % port, '127.1:%d' % port, '', '127.0.0.1:%d ' % port + 'x'):
            for path in ('/', '/api/trace'):
                self.check(self.server.ask(path, headers=[('Host', host)]), 403)
        self.check(self.server.ask('/api/trace', headers=[('Host', 'localhost:%d' % port)]), 200)

    def test_other_origins(self):
        port = self.server.port
        for origin in ('http://evil.example', 'null', 'https://127.0.0.1:%d' % port, 'http://127.0.0.1', 'http://127.0.0.1:%d.evil.example' % port,
                       'http://localhost', 'file://', 'http://evil.example:%d' % port, ''):
            self.check(self.server.ask('/api/trace', headers=[('Origin', origin)]), 403)
            self.check(self.server.ask('/api/ask', 'POST', {'question': 'info'}, headers=[('Origin', origin)]), 403)
        for site in ('cross-site', 'same-site', 'CROSS-SITE', ''):
            self.check(self.server.ask('/api/trace', headers=[('Sec-Fetch-Site', site)]), 403)
        for site in ('same-origin', 'none'):
            self.check(self.server.ask('/api/trace', headers=[('Sec-Fetch-Site', site), ('Origin', 'http://127.0.0.1:%d' % port)]), 200)

    def test_methods(self):
        for method in ('OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'CONNECT', 'NONE'):
            for path in ('/', '/api/trace', '/api/ask'):
                self.check(self.server.ask(path, method, headers=[('Access-Control-Request-Method', 'POST'), ('Origin', 'http://evil.example'),
                                                                  ('Access-Control-Request-Headers', 'authorization')]), 405)
        self.check(self.server.ask('/api/trace', 'POST', b'{}'), 405)
        self.check(self.server.ask('/api/ask'), 405)
        self.check(self.server.ask('/', 'POST', b''), 405)
        self.assertIn(self.server.ask('/api/trace', 'HEAD').status, (200, 405))

    def test_bodies(self):
        big = b' ' * (1 << 20)
        self.check(self.server.ask('/api/ask', 'POST', big), 400)
        self.check(self.server.ask('/api/ask', 'POST', big + b' '), 413)
        self.check(self.server.ask('/api/ask', 'POST', big * 8), 413)
        for body in (b'', b'{', b'[]', b'null', b'{"question": 1}', b'{"question": "none"}', b'{"question": "info", "options": []}',
                     b'{"question": "gaps", "options": {"limit": -1}}', b'{"question": "gaps", "options": {"limit": 1e99}}', b'[' * 100000,
                     b'{"a":' * 50000, b'\xff\xfe', b'{"question": "info\\u0000x"}', b'{"question": "' + b'x' * 500000 + b'"}',
                     b'{"question": "info", "trace": -1}', b'{"question": "info", "trace": "1"}', b'{"question": "info", "session": "1"}',b'{"question": "info", "options": {"none": 1}}'):
            self.check(self.server.ask('/api/ask', 'POST', body), 400)
        for body in (b'', b'[]', b'{}', b'{"edits": 1}', b'{"edits": [1]}', b'{"edits": ["kernel .*=2x\\u0000"]}', b'{"edits": []}x', b'{"edits": %s}' % (b'[' * 1000)):
            self.check(self.server.ask('/api/what-if', 'POST', body), 400)
        self.check(self.server.ask('/api/ask', 'POST', {'question': 'info', 'trace': 1}), 404)

    def test_parameters(self):
        limit = '9' * 30
        for request in ('tiles', 'tiles?level=10', 'tiles?level=10&first=0&lanes=', 'tiles?level=99&first=0&lanes=1', 'tiles?level=-1&first=0&lanes=1',
                        'tiles?level=10&first=%s&lanes=1' % limit, 'tiles?level=10&first=0&n=0&lanes=1', 'tiles?level=10&first=0&n=65&lanes=1',
                        'tiles?level=10&first=0&lanes=1,', 'tiles?level=10&first=0&lanes=%s' % ','.join(['1'] * 9000), 'tiles?level=54&first=%d&lanes=1' % (1 << 62),
                        'tiles?level=0x10&first=0&lanes=1', 'tiles?level=10&first=0&lanes=1%00', 'rows?lane=1', 'rows?lane=1&from=2&to=%s' % limit,
                        'rows?lane=1&from=0&to=9&limit=99999999', 'rows?lane=x&from=0&to=9', 'rows?lane=0&from=0&to=9', 'row', 'row?op=x', 'row?lane=1', 'names', 'names?keys=a',
                        'names?keys=' + ','.join(['1'] * 3000)):
            self.assertIn(self.server.ask('/api/' + request).status, (400, 404, 414, 431), request)
        for request in ('tiles?level=10&first=0&lanes=999999', 'rows?lane=999999&from=0&to=9', 'row?op=18446744073709551615', 'row?lane=999999&at=1', 'none',
                        'trace/..', 'TRACE'):
            self.check(self.server.ask('/api/' + request), 404)

    def test_expensive_patterns(self):
        """Copies of nested repetitions would need gigabytes, and references to groups hours."""
        for pattern in ('(((a{1,255}){1,255}){1,255}){1,255}', 'a{1,32767}', '(a{99}){,99}', '(.*)(.*)(.*)\\3\\2\\1'):
            self.check(self.server.ask('/api/search?regex=1&text=' + urllib.parse.quote(pattern)), 400)
        for pattern in ('(saxpy|scale|cuda).{1,64}', '\\{9999', '[{]'):
            self.assertIn(self.server.ask('/api/search?regex=1&text=' + urllib.parse.quote(pattern)).status, (200, 404), pattern)

    def test_lanes_of_another_trace(self):
        """An emulation of the first trace has no lanes of the second one, which has fewer."""
        with studio.Server(studio.golden('pipeline'), studio.golden('failing')) as server:
            lanes = server.get('trace')['lanes']
            layer = server.ask('/api/what-if', 'POST', {'edits': []}).json()['layer']
            first, second = ([lane['id'] for lane in lanes if lane['trace'] == i] for i in (0, 1))
            self.assertGreater(len(first), len(second))
            for lane in [second[0]] + [1000000 + id for id in first[len(second):]]:
                for request in ('rows?lane=%d&from=0&to=1000000000', 'tiles?level=20&first=0&lanes=%d'):
                    self.check(server.ask('/api/%s&layer=%d' % (request % lane, layer)), 404)
            self.assertEqual(server.ask('/api/rows?lane=%d&from=0&to=1000000000&layer=%d' % (first[-1], layer)).status, 200)

    def ask_at_once(self, server, requests):
        """The answers by request, from eight clients at the same time, which need several readers."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [answer for _ in range(4) for answer in pool.map(lambda request: (request, server.ask('/api/' + request)), requests)]
        for request, answer in answers:
            self.assertEqual(answer.status, 200, (request, answer))
        return sorted({(request, answer.body) for request, answer in answers})

    def test_file_is_replaced(self):
        """A trace that is recorded anew at the same path is another one: the server shows the one that it opened."""
        path, new = self.path('run.sbt'), self.path('new.sbt')
        for before, after in (('delays', 'failing'), ('capture', 'pipeline')):
            shutil.copy(studio.golden(before), path)
            with studio.Server(path) as server:
                lanes = [lane['id'] for lane in server.get('trace')['lanes']]
                requests = (['rows?lane=%d&from=0&to=1000000000' % lane for lane in lanes] + ['search?text=a', 'flame', 'arrows?from=0&to=1000000000'] +
                            ['tiles?level=0&first=%d&n=64&lanes=%d' % (first, lane) for lane in lanes for first in (0, 64)])
                with studio.Server(studio.golden(before)) as other:
                    wanted = self.ask_at_once(other, requests)
                shutil.copy(studio.golden(after), new)
                os.rename(new, path)
                self.assertEqual(self.ask_at_once(server, requests), wanted)

    def test_file_is_overwritten(self):
        """A file that is written over while it is open gives errors, or what is left of it, and no other trace's rows."""
        path = self.path('run.sbt')
        for before, after in (('delays', 'failing'), ('capture', 'pipeline')):
            shutil.copy(studio.golden(before), path)
            server = studio.Server(path)
            try:
                lanes = [lane['id'] for lane in server.get('trace')['lanes']]
                shutil.copyfile(studio.golden(after), path)
                requests = ['rows?lane=%d&from=0&to=1000000000' % lane for lane in lanes] + ['search?text=a', 'flame', 'trace']
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    for answer in pool.map(lambda request: server.ask('/api/' + request), requests * 4):
                        self.assertIn(answer.status, (200, 404, 500))
            finally:
                server.process.terminate()
                self.assertEqual(server.process.wait(harness.SECONDS), 0)
                server.process.communicate()

    def test_garbage(self):
        host = b'Host: %s\r\n' % self.server.host.encode()
        for data in (b'\0' * 1000, b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n' + host + b'\r\n', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
                     b'GET /' + b'a' * 100000 + b' HTTP/1.1\r\n' + host + b'\r\n', b'GET / HTTP/1.1\r\n' + b'X: y\r\n' * 20000 + b'\r\n',
                     b'POST /api/ask HTTP/1.1\r\n' + host + b'Content-Length: -1\r\n\r\n',
                     b'POST /api/ask HTTP/1.1\r\n' + host + b'Content-Length: 99999999999999999999\r\n\r\n',
                     b'POST /api/ask HTTP/1.1\r\n' + host + b'Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
                     b'GET /api/trace HTTP/1.1\r\n' + host + host + b'\r\n', b'GET http://evil.example/api/trace HTTP/1.1\r\n' + host + b'\r\n'):
            self.assertNotIn(b'200 OK', self.server.raw(data, 0.5).split(b'\r\n')[0], data[:60])

    def test_silent_clients(self):
        """Connections that send nothing, or a little, do not keep the page from its answers."""
        with contextlib.ExitStack() as stack:
            for i in range(200):
                sock = stack.enter_context(socket.create_connection(('127.0.0.1', self.server.port)))
                sock.sendall([b'', b'GET /api/tra', b'POST /api/ask HTTP/1.1\r\nContent-Length: 100\r\n\r\n{'][i % 3])
            begin = time.monotonic()
            self.assertEqual(self.server.ask('/api/trace').status, 200)
            self.assertLess(time.monotonic() - begin, 10)

    def test_clients_that_send_more_and_go(self):
        """Work ends when the client is gone, even if the server has not read all that the client had sent."""
        body = json.dumps({'question': 'replay', 'options': {'executor': 'vgpu', 'repeat': 1000000, 'time_limit_ns': 600 * 10 ** 9}}).encode()
        with studio.Server(studio.golden('race')) as server:
            def is_working():
                tasks = '/proc/%d/task' % server.process.pid
                for task in os.listdir(tasks):
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(os.path.join(tasks, task, 'comm'), encoding='ascii') as file:
                        if file.read() == 'MHD-connection\n':
                            return True
                return False
            with socket.create_connection(('127.0.0.1', server.port)) as sock:
                sock.sendall(b'POST /api/ask HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s' % (
                    server.host.encode(), server.token.encode(), len(body), body) + b'x' * 60000)
                self.assertTrue(self.reached(is_working))
                time.sleep(0.5)
                self.assertTrue(is_working(), 'the question is no long one')
            self.assertTrue(self.reached(lambda: not is_working()), 'the server works for nobody')

    def reached(self, condition):
        for _ in range(100):
            if condition():
                return True
            time.sleep(0.1)
        return False

    def test_many_connections(self):
        """However many connections browsers keep, a further one is answered, and the server keeps few."""
        with contextlib.ExitStack() as stack:
            connections = [http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=20) for _ in range(300)]
            for connection in connections:
                stack.enter_context(contextlib.closing(connection))
                connection.request('GET', '/api/trace', headers={'Authorization': 'Bearer ' + self.server.token})
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, 200)
            kept = [connection for connection in connections if connection.sock]
            self.assertTrue(1 <= len(kept) <= 64, len(kept))
            script = self.server.ask('/studio.js', token=False)
            self.assertEqual((script.status, len(script.body)), (200, int(script.headers['content-length'])))
            # Those that were kept are of use.
            for connection in kept:
                connection.request('GET', '/')
                self.assertEqual(connection.getresponse().status, 200)

    def test_only_this_machine(self):
        """The port is that of the loopback interface."""
        with open('/proc/net/tcp', encoding='ascii') as file:
            found = [line.split()[1] for line in file if line.split()[3] == '0A' and line.split()[1].endswith(':%04X' % self.server.port)]
        self.assertEqual(found, ['0100007F:%04X' % self.server.port])

    def test_other_users(self):
        """Another user of the machine finds the token nowhere, and has no use of the port: 200 connections hold up nobody."""
        if os.geteuid():
            self.skipTest('only root can become another user')
        program = '''
import contextlib, glob, http.client, os, socket, stat, sys, time
port, token, found = int(sys.argv[1]), sys.stdin.read().strip(), []
for path in (path for name in ('/proc/[0-9]*/cmdline', '/proc/[0-9]*/environ', '/tmp/*', '/tmp/*/*', '/run/*', '/run/*/*') for path in glob.glob(name)):
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            with open(path, 'rb') as file:
                if token.encode() in file.read(1 << 16):
                    found.append(path)
    except OSError:
        pass
def ask(sock):
    try:
        sock.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')
        return sock.recv(100).split()[1].decode()
    except (OSError, IndexError):
        return 'closed'
# A connection from 127.0.0.2 that this side has ended is root's in the kernel's table. Then the same port connects from 127.0.0.1.
answers = set()
for _ in range(40):
    with socket.create_connection(('127.0.0.1', port), source_address=('127.0.0.2', 0)) as sock:
        own = sock.getsockname()[1]
    with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), source_address=('127.0.0.1', own), timeout=20) as sock:
        answers.add(ask(sock))
held = [socket.create_connection((host, port), timeout=20) for host in ('127.0.0.1', '::ffff:127.0.0.1') for _ in range(100)]
try:
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request('GET', '/api/trace')
    answer = connection.getresponse().status
except OSError:
    answer = 'closed'
print(found, *answers, answer, flush=True)
time.sleep(20)
'''
        python = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'
        with subprocess.Popen([python, '-c', program, str(self.server.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              preexec_fn=become_nobody, cwd='/', env={'PATH': '/usr/bin:/bin'}) as other:
            try:
                other.stdin.write(self.server.token)
                other.stdin.close()
                self.assertEqual(other.stdout.readline(), '[] closed closed\n')
                self.assertEqual(self.server.ask('/api/trace').status, 200, 'the other user has all connections')
            finally:
                other.kill()

    def test_browser(self):
        """The browser gets the page's path and not the token, and the signals of other programs. The page is the user's alone."""
        script, report, run = self.path('xdg-open'), self.path('report'), self.path('run')
        os.mkdir(run)
        with open(script, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n{ echo "$@"; ps -o sid= $$; grep ^Sig[BI] /proc/self/status; } >%s.new\nmv %s.new %s\n' % ((report,) * 3))
        os.chmod(script, 0o755)
        server = subprocess.Popen([harness.TSCTL, 'studio', studio.golden('train')], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env=harness.environment(TRACESMITH_STUDIO=studio.PROGRAM, XDG_RUNTIME_DIR=run,
                                                          PATH=self.folder + ':' + os.environ['PATH']))
        with server:
            try:
                self.assertTrue(any('Studio is open' in line for line in server.stderr))
                while not os.path.exists(report):
                    time.sleep(0.01)
                with open(report, encoding='utf-8') as file:
                    page, session, *signals = file.read().splitlines()
                self.assertEqual([os.path.join(run, name) for name in os.listdir(run)], [page])
                self.assertEqual(stat.S_IMODE(os.stat(page).st_mode), 0o600)
                self.assertNotEqual(int(session), os.getsid(server.pid))
                masks = {name: int(mask, 16) for name, mask in (line.split(':') for line in signals)}
                self.assertEqual((masks['SigBlk'], masks['SigIgn'] & 1 << signal.SIGPIPE - 1), (0, 0))
            finally:
                server.terminate()
            self.assertEqual((server.wait(harness.SECONDS), server.stdout.read()), (0, ''))
        self.assertEqual(os.listdir(run), [])

    def test_unix_socket(self):
        path = self.path('studio.sock')
        with studio.Server(studio.golden('train'), options=('--socket', path)) as server:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            for token, status in ((server.token, b'200'), ('0' * 32, b'401')):
                with socket.socket(socket.AF_UNIX) as sock:
                    sock.connect(path)
                    sock.sendall(b'GET /api/trace HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n' % token.encode())
                    self.assertEqual(sock.recv(1 << 16).split()[1], status)
        self.assertFalse(os.path.exists(path))

    def test_hostile_names(self):
        """Names of a trace arrive as JSON, and a megabyte of them does not harm."""
        path = hostile_names.write(self, self.path('hostile.sbt'), hostile_names.NAMES + ['<img src=x onerror=alert(1)>' * 40000])
        with studio.Server(path) as server:
            lanes = server.get('trace')['lanes']
            streams = [lane['id'] for lane in lanes if lane['kind'] == 'stream']
            _, cells = server.tiles(10, 0, 64, streams[:20])
            keys = sorted({cell[0] for lane in cells.values() for cell in lane if cell[0]})
            names = server.get('names?keys=%s' % ','.join(map(str, keys)))
            self.assertIn('</title></svg><script>alert(1)</script>', [name['name'] for name in names.values()])
            self.assertEqual(max(len(name['name']) for name in names.values()), 4096)
            for question in ('info', 'analyze', 'gaps', 'memory', 'timeline'):
                server.question(question)
            operations = [frame['name'] for frame in server.get('flame')['frames'] if frame['kind'] == 'operation']
            self.assertIn('</title></svg><script>alert(1)</script>', operations)
            self.assertEqual(max(map(len, operations)), 2048)


if __name__ == '__main__':
    harness.main()
