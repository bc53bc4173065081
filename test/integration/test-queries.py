#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon answers what a trace means: the same as tsctl works out itself, within limits, until it is cancelled.

Where time matters the process that works answers out is a script of the test's, which does what it is told: nothing here depends on
how fast the machine is.
"""
import contextlib
import errno
import fcntl
import glob
import json
import os
import random
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

import control
import harness
import service
import schema

# As tsctl is asked; each once of a file here, and once of the daemon.
QUESTIONS = (
    ('state', '--at', '3ms', '--json'),
    ('state', '--at', '0'),
    ('timeline', '--json'),
    ('timeline', '--ascii', '--width', '40', '--from', '1ms', '--to', '1s'),
    ('view', '--json'),
    ('view', '--json', '--stacks', '--type', 'api,kernel', '--limit', '50'),
    ('view', '--json', '--mangled', '--from', '1ms', '--to', '1s'),
    ('view', '--json', '--stats'),
    ('view', '--json', '--stats', '--limit', '2', '--type', 'kernel,memcpy'),
    ('memory', '--json'),
    ('memory', '--limit', '3', '--stacks'),
    ('timeline', '--format', 'svg', '--width', '700'),
    ('memory', '--format', 'svg'),
    ('graph', '--format', 'json'),
    ('graph', '--format', 'json', '--critical-path', '--from', '1ms', '--to', '1s'),
)


def moment(ns):
    return control.number(1 << 3) + control.number(ns) + control.number(2 << 3) + control.number(1)


def query(kind, body=b'', **which):
    """A request: kind is the number of its body; session, pid, max_bytes by their names."""
    keys = {'session': 1, 'pid': 2, 'in_file': 3, 'max_bytes': 5}
    message = b''.join(control.number(keys[name] << 3) + control.number(value) for name, value in which.items())
    return control.field(control.QUERY, message + control.field(kind, body))


STATE, TIMELINE, ROWS, STATS, MEMORY, GRAPH = 10, 11, 12, 13, 14, 15
GAPS, ANALYZE, INFO = 17, 18, 19
STATE_BODY = control.field(1, moment(3000000))


class Queries(service.Service):
    def connect(self):
        client = control.Control(self.control)
        self.addCleanup(client.close)
        return client

    def fake_answerer(self, script):
        """A worker that does as the shell script says; descriptor 3 is the daemon's."""
        path = self.path('answerer')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('#!/bin/sh\n%s\n' % script)
        os.chmod(path, 0o755)
        return path

    def start(self, argv):
        environment = harness.preload_environment('', TRACESMITH_SOCKET=self.inject, TS_TRUTH=self.truth_path)
        process = subprocess.Popen(argv, env=environment, cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def check_same(self, here, served):
        self.assertEqual((here.status, here.err.split(': ', 1)[-1]), (served.status, served.err.split(': ', 1)[-1]))
        self.assertTrue(here.out)
        self.assertEqual(here.out, served.out)

    def check_same_of_running(self, question, session):
        """Between two equal answers of tsctl's own: a file that grows is longer by clock rows, whatever its program does."""
        end = time.monotonic() + harness.SECONDS
        while True:
            here = self.tsctl(*question, '--session', session)
            served = self.tsctl(*question, '--served', '--session', session)
            if here.out == served.out or time.monotonic() > end:
                break
            if here.out == self.tsctl(*question, '--session', session).out:
                break
        self.check_same(here, served)

    def check_code(self, answer, code):
        self.assertEqual(control.fields(answer[2][control.ERROR])[1] >> 1, code, answer)
        self.assertFalse(answer[1])

    def check_alive(self):
        """It lives on, answers, and no process of a question is left."""
        self.assertEqual(self.tsctl('sessions', '--json').status, 0)
        self.wait(lambda: not self.workers(), 'the end of all questions')

    # ---- answers ----------------------------------------------------------------------------------

    def test_of_files(self):
        """Each answer of the daemon is tsctl's own, byte for byte; of a sound file, and of a damaged one."""
        self.start_daemon()
        result, path = self.record([harness.app('pipeline', 'driver')])
        self.assertEqual(result.status, 0, result)
        for question in QUESTIONS:
            with self.subTest(question):
                self.check_same(self.tsctl(*question, path), self.tsctl(*question, '--served', path))
        with open(path, 'rb') as stream:
            data = bytearray(stream.read())
        data[len(data) // 2] ^= 0xff
        damaged = self.path('damaged.sbt')
        with open(damaged, 'wb') as stream:
            stream.write(data)
        for question in [question for question in QUESTIONS if '--json' in question[-1:]]:
            with self.subTest(question, damaged=True):
                here, served = self.tsctl(*question, damaged), self.tsctl(*question, '--served', damaged)
                self.assertEqual((here.status, here.out), (served.status, served.out))
                self.assertEqual(len(here.err.splitlines()), len(served.err.splitlines()))
        self.check_alive()

    def test_of_sessions(self):
        """A session that runs, by pid and by number, and one that is over."""
        self.start_daemon()
        process = self.start([sys.executable, '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        pid = str(process.pid)
        self.wait(lambda: self.tsctl('view', '--json', '--type', 'memcpy', '--session', pid).out.count('\n') == 5,
                  'its rows')
        number = str(json.loads(self.tsctl('sessions', '--json').out)['sessions'][0]['session'])
        # Clock rows come all the time: what is not of them stays as it is.
        for question in (('state', '--at', '3600s', '--json'), ('view', '--json', '--type', 'api,memcpy,alloc,context'),
                         ('memory', '--json'), ('graph', '--format', 'json'), ('view', '--json', '--stats')):
            for session in (pid, number):
                with self.subTest(question):
                    self.check_same_of_running(question, session)
        process.communicate(b'\n', timeout=harness.SECONDS)
        self.wait(lambda: json.loads(self.tsctl('info', '--json', '--session', pid).out)['finished'], 'its end')
        for question in QUESTIONS:
            with self.subTest(question, over=True):
                self.check_same(self.tsctl(*question, '--session', pid),
                                self.tsctl(*question, '--served', '--session', pid))
        nobody = self.tsctl('state', '--at', '0', '--served', '--session', '4999')
        self.assertEqual((nobody.status, len(nobody.err.splitlines())), (2, 1), nobody)
        self.check_alive()

    def test_gaps_analysis_and_contents(self):
        """They have no --served; a client of the socket gets them."""
        self.start_daemon()
        result, path = self.record([harness.app('pipeline', 'driver')])
        self.assertEqual(result.status, 0, result)
        client = self.connect()
        for kind in (GAPS, ANALYZE, INFO):
            with open(path, 'rb') as trace:
                client.send(query(kind), [trace.fileno()])
            kinds, more, found = [], True, {}
            while more:
                _, more, answer = client.answer()
                kinds += answer
                found.update(answer)
            self.assertEqual(set(kinds), {kind, control.QUERY_END}, kind)
            self.assertGreater(len(found[kind]), 100)
        self.assertIn(b'SBT 1.', found[INFO])
        self.check_alive()

    def test_parts(self):
        """A large answer comes in parts of a bounded size, at the client's pace; another client does not wait for it."""
        self.start_daemon()
        result, path = self.record([harness.app('pipeline', 'driver')])
        self.assertEqual(result.status, 0, result)
        slow = self.connect()
        with open(path, 'rb') as trace:
            asked = slow.send(query(ROWS, control.number(5 << 3) + control.number(1)), [trace.fileno()])
        self.check_same(self.tsctl('view', '--json', path), self.tsctl('view', '--json', '--served', path))
        sizes, more = [], True
        while more:
            number, more, answer = slow.answer()
            self.assertEqual(number, asked)
            self.assertEqual(list(answer), [control.ROWS if more else control.QUERY_END])
            sizes.append(len(next(iter(answer.values()))))
        self.assertGreater(len(sizes), 3)
        self.assertLessEqual(max(sizes), 256 << 10)
        self.assertEqual(control.fields(answer[control.QUERY_END])[5], sum(sizes[:-1]))
        self.check_alive()

    def test_many_while_it_records(self):
        """Questions without end, and not a launch is lost: no more are in the rings than those hold."""
        self.start_daemon()
        flusher = self.connect()
        process = self.start([harness.app('bursts', 'driver'), '2'])

        def order(line, answer):
            process.stdin.write(line.encode() + b'\n')
            process.stdin.flush()
            words = process.stdout.readline().split()
            self.assertEqual(words[0], answer.encode())
            return int(words[1])

        order('go 100', 'done')
        over, asked, failed = threading.Event(), [0, 0], []

        def ask(i):
            while not over.is_set():
                question = (('state', '--at', '1ms', '--json'), ('view', '--json', '--stats'))[i]
                result = self.tsctl(*question, '--served', '--session', process.pid)
                asked[i] += 1
                if result.status:
                    failed.append(result)

        threads = [threading.Thread(target=ask, args=(i,)) for i in (0, 1)]
        for thread in threads:
            thread.start()
        launches = 0
        try:
            while min(asked) < 5 and not failed:
                launches = order('go 1000', 'done')
                flusher.flush()
        finally:
            over.set()
            for thread in threads:
                thread.join(harness.SECONDS)
        self.assertEqual(failed, [])
        process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        trace = self.finished_trace(glob.glob(os.path.join(self.traces, '**', '*.sbt'), recursive=True)[0])
        self.assertEqual((trace.counts['kernel'], trace.lost), (launches, {}))
        self.check_alive()

    # ---- limits -----------------------------------------------------------------------------------

    def test_bytes(self):
        """An answer beyond the bound ends with the reason; one's own bound holds where it is less."""
        self.start_daemon('--max-query-bytes', '100K')
        result, path = self.record([harness.app('pipeline', 'driver')])
        self.assertEqual(result.status, 0, result)
        refused = self.tsctl('view', '--json', '--served', path)
        self.assertEqual((refused.status, len(refused.err.splitlines())), (2, 1), refused)
        self.assertIn('larger than 102400 bytes', refused.err)
        self.assertEqual(self.tsctl('view', '--json', '--served', '--limit', '10', path).status, 0)
        client = self.connect()
        with open(path, 'rb') as trace:
            client.send(query(STATE, STATE_BODY, max_bytes=1), [trace.fileno()])
        self.check_code(client.answer(), errno.EFBIG)
        self.check_alive()

    def test_time(self):
        """Who takes too long is killed: by the daemon's bound, or by what the client waits."""
        self.start_daemon('--max-query-ms', '100', '--worker', self.fake_answerer('exec sleep 600'))
        client = self.connect()
        for wait_ms in (0, 10, 100000):
            with open(__file__, 'rb') as trace:
                client.send(query(STATE, STATE_BODY), [trace.fileno()], deadline_ms=wait_ms)
            self.check_code(client.answer(), errno.ETIMEDOUT)
        self.check_alive()

    def test_memory(self):
        """Who needs too much memory falls, and the client is told; who needs less is answered."""
        self.start_daemon('--max-query-memory', '32M')
        path = self.path('made.sbt')
        made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, '300000'])
        self.assertEqual(made.status, 0, made)
        served = self.tsctl('graph', '--format', 'json', '--served', path)
        self.assertEqual((served.status, served.out, len(served.err.splitlines())), (2, '', 1), served)
        self.assertIn('memory', served.err)
        question = ('view', '--json', '--limit', '10')
        self.check_same(self.tsctl(*question, path), self.tsctl(*question, '--served', path))
        self.check_alive()

    def test_at_once(self):
        """So many questions at once and no more, and one more when one is over."""
        self.start_daemon('--max-queries', '4', '--worker', self.fake_answerer('exec sleep 600'))
        client = self.connect()
        with open(__file__, 'rb') as trace:
            asked = [client.send(query(STATE, STATE_BODY), [trace.fileno()]) for _ in range(5)]
            refused = client.answer()
            self.assertEqual(refused[0], asked[4])
            self.check_code(refused, errno.EBUSY)
            client.send(control.field(control.CANCEL, control.number(1 << 3) + control.number(asked[0])))
            self.check_code(client.answer(), errno.ECANCELED)
            client.answer()
            # One that was killed counts until it is dead.
            self.wait(lambda: len(self.workers()) == 3, 'room')
            last = self.connect()
            last.send(query(STATE, STATE_BODY), [trace.fileno()])
            self.wait(lambda: len(self.workers()) == 4, 'another')
        client.close()
        last.close()
        self.check_alive()

    def test_slow_clients(self):
        """Who reads slowly gets all: also when what was not read yet was sent on behind the answer to another request."""
        n_parts = 2000
        part, end = control.field(control.ROWS, b''), control.field(control.QUERY_END, b'')
        said = self.path('said')
        with open(said, 'wb') as stream:
            for body, flags in [(part, control.MORE)] * n_parts + [(end, 0)]:
                stream.write(control.HEADER.pack(control.MAGIC, control.VERSION, control.ANSWER, 0, 1, 0, len(body), flags) + body)
        self.start_daemon('--worker', self.fake_answerer('exec cat %s >&3' % said))
        client = self.connect()
        with open(__file__, 'rb') as trace:
            asked = client.send(query(ROWS), [trace.fileno()])
        waiting, before = -1, None
        while waiting != before or not waiting:
            before, waiting = waiting, struct.unpack('i', fcntl.ioctl(client.socket, termios.FIONREAD, bytes(4)))[0]
            time.sleep(0.2)
        # Room for what waits, but not so much that the socket counts as one that can be written to.
        got = [client.answer() for _ in range(waiting // (control.HEADER.size + len(part)) // 4 + 1)]
        listed = client.send(control.field(control.LIST, b''))
        while got[-1][1] or got[-1][0] != asked:
            got.append(client.answer())
        self.assertEqual([number for number, _, _ in got].count(listed), 1)
        self.assertEqual([number for number, _, _ in got].count(asked), n_parts + 1)
        self.assertEqual(list(got[-1][2]), [control.QUERY_END])
        self.check_alive()

    # ---- cancelled --------------------------------------------------------------------------------

    def test_cancelled(self):
        """By a message both are answered; a question that is over, or was none, is not found; by going away it ends."""
        self.start_daemon('--worker', self.fake_answerer('exec sleep 600'))
        client = self.connect()
        with open(__file__, 'rb') as trace:
            asked = client.send(query(STATE, STATE_BODY), [trace.fileno()])
            self.wait(self.workers, 'an answerer')
            for found in (1, 0):
                cancel = client.send(control.field(control.CANCEL, control.number(1 << 3) + control.number(asked)))
                if found:
                    answer = client.answer()
                    self.assertEqual(answer[0], asked)
                    self.check_code(answer, errno.ECANCELED)
                number, more, answer = client.answer()
                self.assertEqual((number, more), (cancel, False))
                self.assertEqual(control.fields(answer[control.CANCELLED])[1], found)
            self.check_alive()
            client.send(query(ROWS), [trace.fileno()])
            self.wait(self.workers, 'an answerer')
        client.close()
        self.check_alive()

    # ---- strangers --------------------------------------------------------------------------------

    def test_hostile_answerers(self):
        """What reads strangers' traces may have been taken over by one: its word is no more than bytes for who asked."""
        lies = {
            'head -c 100000 /dev/zero >&3; sleep 600': errno.EPROTO,
            'exit 12': errno.ECONNRESET,
            'kill -11 $$': errno.ECONNRESET,
            'exec 3>&-; sleep 600': None,
            # A status, which is not this one's to answer; one frame, whole.
            r"printf 'TSRP\001\000\002\000\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\022\000' >&3;"
            'sleep 600': errno.EPROTO,
            # A part of another answer than was asked for (memory), and of none that there is.
            r"printf 'TSRP\001\000\002\000\001\000\000\000\000\000\000\000\002\000\000\000\001\000\000\000\142\000' >&3;"
            'sleep 600': errno.EPROTO,
            r"printf 'TSRP\001\000\002\000\001\000\000\000\000\000\000\000\003\000\000\000\001\000\000\000\352\004\000' >&3;"
            'sleep 600': errno.EPROTO,
        }
        for script, code in lies.items():
            with self.subTest(script):
                # Where something else is to be the answer, time must not run out before, however busy the machine is.
                limit = () if code else ('--max-query-ms', '100')
                self.start_daemon(*limit, '--worker', self.fake_answerer(script))
                client = self.connect()
                with open(__file__, 'rb') as trace:
                    client.send(query(STATE, STATE_BODY), [trace.fileno()])
                self.check_code(client.answer(), code or errno.ETIMEDOUT)
                self.check_alive()
                client.close()
                self.end_daemon(self.daemon)

    def false_daemon(self):
        """Its socket, and the list of what it answers, with flags, to whatever it is asked."""
        path, answers = self.path('false.sock'), []
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(path)
        listener.listen()
        listener.settimeout(harness.SECONDS)

        def receive(client, n_bytes):
            data = b''
            while len(data) < n_bytes:
                data += client.recv(n_bytes - len(data)) or bytes(n_bytes)
            return data

        def serve():
            while True:
                client, _ = listener.accept()
                # Who has heard enough hangs up.
                with client, contextlib.suppress(OSError):
                    client.settimeout(harness.SECONDS)
                    while True:
                        header = control.HEADER.unpack(receive(client, control.HEADER.size))
                        if header[0] != control.MAGIC:
                            break
                        receive(client, header[6])
                        if not answers:
                            return
                        for answer, flags in answers:
                            client.sendall(control.HEADER.pack(control.MAGIC, control.VERSION, control.ANSWER, 0, header[4], 0,
                                                               len(answer), flags) + answer)

        def end():
            answers.clear()
            last = control.Control(path)
            last.send(b'')
            thread.join(harness.SECONDS)
            last.close()

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(end)
        return path, answers

    @service.no_service
    def test_false_daemons(self):
        """What answers another question than was asked, or none that there is, is told as a mistake; it is not read as what was asked."""
        path, answers = self.false_daemon()
        asked = {('state', '--at', '0'): 8, ('timeline',): 9, ('view', '--json'): 10, ('view', '--json', '--stats'): 11,
                 ('memory',): 12, ('graph', '--format', 'json'): 13}
        # Fields of each kind that other messages have by these numbers: numbers where they have messages, and the reverse.
        bodies = (b'', b''.join(control.number(key << 3) + control.number(0xdead0000) for key in range(1, 12)),
                  b''.join(control.field(key, b'\x08\x01') for key in range(1, 12)))
        environment = harness.environment(TRACESMITH_CONTROL=path)
        for question, right in asked.items():
            for number in [*asked.values(), 77]:
                if number == right:
                    continue
                for body in bodies:
                    with self.subTest(question, number=number):
                        answers[:] = [(control.field(number, body), control.MORE), (control.field(control.QUERY_END, b''), 0)]
                        result = harness.tsctl(*question, '--served', __file__, env=environment)
                        self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
                        self.assertRegex(result.err, 'does not match the request|malformed')

    @service.no_service
    def test_lying_daemons(self):
        """Answers of the right kind that lack what is always there, or hold numbers and texts that cannot be: told as they are."""
        path, answers = self.false_daemon()
        environment = harness.environment(TRACESMITH_CONTROL=path)
        served = {('state', '--at', '0', '--stacks', '--wide'): (8, 'StateReport'), ('state', '--at', '0', '--json'): (8, 'StateReport'),
                  ('timeline', '--width', '40'): (9, 'TimelineReport'), ('timeline', '--ascii', '--json'): (9, 'TimelineReport'),
                  ('timeline', '--format', 'svg'): (9, 'TimelineReport'), ('memory', '--format', 'svg'): (12, 'MemoryReport'),
                  ('view', '--json'): (10, 'RowList'), ('view', '--json', '--stats'): (11, 'TraceStats'),
                  ('memory', '--stacks', '--wide'): (12, 'MemoryReport'), ('memory', '--kernels', '0x10'): (12, 'MemoryReport'),
                  ('graph', '--format', 'json'): (13, 'GraphList'), ('graph', '--format', 'json', '--critical-path'): (13, 'GraphList')}
        live = {('sessions',): (3, 'SessionList'), ('watch', '-n', '2', '-i', '1ms'): (3, 'SessionList'), ('status',): (2, 'Status'),
                ('status', '--json'): (2, 'Status')}
        for said in (None, *schema.LIES):
            for question, (number, kind) in {**served, **live}.items():
                with self.subTest(question, said=said):
                    body = control.field(number, schema.lie(kind, schema.LIES[said]) if said else b'')
                    end = schema.lie('QueryEnd', schema.LIES[said]) if said else b''
                    answers[:] = [(body, 0)] if question in live else \
                        [(body, control.MORE), (control.field(control.QUERY_END, end), 0)]
                    argv = question if question in live else (*question, '--served', __file__)
                    result = harness.tsctl(*argv, env=environment)
                    self.assertIn(result.status, (0, 1, 2), result)
                    self.assertLess(len(result.out) + len(result.err), 1 << 20)
                    self.assertNotRegex(result.out + result.err, '[\x1b\u202e]|\\(null\\)', question)

    def test_hostile_clients(self):
        """Requests that make no sense, descriptors of anything: an answer or a hang-up, and nothing is left open."""
        self.start_daemon()
        keeper = self.connect()
        keeper.ask(control.field(control.LIST, b''))
        descriptors = '/proc/%d/fd' % self.daemon.pid
        before = len(os.listdir(descriptors))
        with open(__file__, 'rb') as text, socket.socket(socket.AF_UNIX) as other:
            reader, writer = os.pipe()
            folder = os.open(self.folder, os.O_RDONLY)
            null = os.open('/dev/zero', os.O_RDONLY)
            unreadable = os.open(self.path('unreadable'), os.O_WRONLY | os.O_CREAT)
            path = os.open(__file__, os.O_PATH)
            for fd in (text.fileno(), other.fileno(), reader, writer, folder, null, unreadable, path):
                client = self.connect()
                client.send(query(STATE, STATE_BODY), [fd])
                number, more, answer = client.answer()
                self.assertIn(control.ERROR, answer)
                self.assertFalse(more)
                client.close()
            # A descriptor where none belongs; several; more than is said.
            client = self.connect()
            self.assertIn(control.SESSIONS, self.answer_of(client, control.field(control.LIST, b''), [reader]))
            self.assertIn(control.ERROR, self.answer_of(client, query(STATE, STATE_BODY), [reader, writer, null]))
            self.assertIn(control.ERROR, self.answer_of(client, query(STATE, STATE_BODY, pid=1), [reader]))
            self.assertIn(control.SESSIONS, self.answer_of(client, control.field(control.LIST, b''),
                                                           [reader, reader, null], n_fds=0))
            client.close()
            # As many as may come; more are nobody's business.
            client = self.connect()
            self.assertIn(control.ERROR, self.answer_of(client, query(STATE, STATE_BODY), [text.fileno()] * 64))
            with self.assertRaises((AssertionError, OSError)):
                client.send(control.field(control.LIST, b''), [text.fileno()] * 65, n_fds=0)
                client.answer()
            client.close()
            # One that is said and does not come.
            client = self.connect()
            client.send(query(STATE, STATE_BODY), n_fds=1)
            with self.assertRaises((AssertionError, OSError)):
                client.answer()
            client.close()
            # What the trace cannot be asked.
            for wrong in (query(STATE), query(77), query(ROWS, control.field(3, b'no such type')),
                          query(TIMELINE, control.number(3 << 3) + control.number(1 << 30)),
                          query(MEMORY, control.number(1 << 3) + control.number(1 << 31)),
                          control.field(control.QUERY, b'\x0a\xff'), query(STATE, STATE_BODY, session=7),
                          query(STATE, STATE_BODY, pid=1),
                          # Nor two wishes in one, of which one alone would be heard.
                          control.field(control.START, control.field(4, b'sched:1ms') + control.field(5, b'replay'))):
                client = self.connect()
                self.assertIn(control.ERROR, self.answer_of(client, wrong, []))
                client.close()
            chance = random.Random(7)
            for _ in range(50):
                client = self.connect()
                client.send(control.field(control.QUERY, chance.randbytes(chance.randrange(64))), [text.fileno()])
                client.send(chance.randbytes(chance.randrange(64)), [null])
                client.close()
            for fd in (reader, writer, folder, null, unreadable, path):
                os.close(fd)
        self.check_alive()
        # The connection that found the daemon may have been among those before.
        self.wait(lambda: len(os.listdir(descriptors)) <= before, 'the end of their descriptors')

    def answer_of(self, client, body, fds, n_fds=None):
        client.send(body, fds, n_fds)
        return client.answer()[2]

    def test_several_files(self):
        """Of a recording in several files the daemon answers as tsctl does: of all that are there, without a gap."""
        self.start_daemon()
        result, path = self.record([harness.app('stress', 'driver'), '200000'], '--vgpu', '--rotate-size', '16K',
                                   '--stacks', 'none')
        self.assertEqual(result.status, 0, result)
        parts = sorted(glob.glob(self.path('recorded.*.sbt')), key=lambda name: int(name.split('.')[-2]))
        self.assertGreater(len(parts), 1)
        questions = (('state', '--at', '3ms', '--json'), ('view', '--json', '--stats'), ('timeline', '--json'))
        whole = self.tsctl('view', '--json', '--stats', path).out
        for question in questions:
            with self.subTest(question):
                self.check_same(self.tsctl(*question, path), self.tsctl(*question, '--served', path))
        os.unlink(parts[0])
        for question in questions:
            with self.subTest(question, parts=len(parts)):
                self.check_same(self.tsctl(*question, path), self.tsctl(*question, '--served', path))
        self.assertNotEqual(self.tsctl('view', '--json', '--stats', path).out, whole)
        # Files that do not belong together are not read as one; the last answer tells of how many it is, and of which not.
        client = self.connect()
        with contextlib.ExitStack() as stack:
            # A request has at most 64 descriptors; a slow machine makes more files.
            fds = [stack.enter_context(open(name, 'rb')).fileno() for name in (path, __file__, *parts[1:][-60:])]
            client.send(query(MEMORY), fds)
            more = True
            while more:
                _, more, answer = client.answer()
        self.assertIn(control.QUERY_END, answer, answer)
        end = control.fields(answer[control.QUERY_END])
        self.assertEqual((end[10], end[11]), (1, int(parts[-1].split('.')[-2])))
        self.check_alive()

    def test_recorder(self):
        """A session whose recording goes on in file after file, the oldest of which go; running, and over."""
        self.start_daemon('--rotate-size', '16K', '--keep', '3')
        process = self.start([harness.app('bursts', 'driver'), '1'])

        def go(line):
            process.stdin.write(line.encode() + b'\n')
            process.stdin.flush()
            self.assertTrue(process.stdout.readline())

        def numbers():
            return [int(name.split('.')[-2]) for name in
                    glob.glob(os.path.join(self.traces, '**', '*.[0-9]*.sbt'), recursive=True)]

        self.wait(lambda: go('go 500') or max(numbers(), default=0) > 3, 'files')
        pid = process.pid
        self.connect().flush()
        for question in (('view', '--json', '--type', 'kernel'), ('state', '--at', '3600s', '--json')):
            with self.subTest(question):
                self.check_same_of_running(question, pid)
        process.communicate(timeout=harness.SECONDS)
        self.wait(lambda: json.loads(self.tsctl('info', '--json', '--session', pid).out)['finished'], 'its end')
        for question in (('memory', '--json'), ('view', '--json', '--stats')):
            with self.subTest(question, over=True):
                here = self.tsctl(*question, '--session', pid)
                self.check_same(here, self.tsctl(*question, '--served', '--session', pid))
        self.assertGreater(len(numbers()), 0)
        self.check_alive()

    @unittest.skipIf(os.geteuid(), 'only root can be somebody else')
    def test_other_users(self):
        """Another user's session is none of theirs, by number or pid; a file that they have open is."""
        self.start_daemon()
        process = self.start([sys.executable, '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(lambda: str(process.pid) in self.tsctl('sessions', '--json').out, 'the session')
        os.chmod(self.folder, 0o755)
        os.chmod(self.control, 0o666)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            said = b''
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                client = control.Control(self.control)
                for which in ({'session': 1}, {'pid': process.pid}, {}):
                    client.send(query(STATE, STATE_BODY, **which))
                    error = control.fields(client.answer()[2][control.ERROR])
                    said += b'%d ' % (error[1] >> 1)
            finally:
                os.write(writer, said)
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader, 'rb') as stream:
            self.assertEqual(stream.read().split(), [b'%d' % errno.ENOENT] * 3)
        self.assertEqual(self.tsctl('state', '--at', '0', '--served', '--session', str(process.pid)).status, 0)

    def test_refused_by_name(self):
        """What the daemon does not draw, and where no daemon is."""
        self.start_daemon()
        for question in (('view', '--served'), ('graph', '--served'), ('graph', '--critical-path', '--served')):
            refused = self.tsctl(*question, 'x.sbt')
            self.assertEqual((refused.status, len(refused.err.splitlines())), (2, 1), refused)
            self.assertIn('--served requires', refused.err)
        nobody = harness.tsctl('state', '--at', '0', '--served', __file__,
                               env=harness.environment(TRACESMITH_CONTROL=self.path('none')))
        self.assertEqual((nobody.status, len(nobody.err.splitlines())), (2, 1), nobody)
        self.assertIn('no daemon', nobody.err)


if __name__ == '__main__':
    harness.main()
