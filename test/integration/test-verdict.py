#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict of `tsctl replay`: the first line answers; values are in their type, kernels are demangled, an operation has one number in every report,
and of two unordered operations there are the streams and what would order them."""
import json
import os
import re
import subprocess
import sys
import time

import harness

SAME, FOUND, BAD, DIFFERS = 0, 1, 2, 3
TYPED = os.path.join(harness.SOURCE, 'test', 'apps', 'typed.py')
SLOT = 17
# Kind of typed.py: the element's type, the values then and now; None: the type cannot be known.
VALUES = {
    'float': ('float', '2.0', '1.0'),
    'double': ('double', '2.0', '1.0'),
    'half': ('__half', '2.0', '1.0'),
    'int': ('int', '2', '-1'),
    'uchar': ('unsigned char', '200', '1'),
    'bool': ('bool', 'false', 'true'),
    'long': ('long', '2', str(1 << 40)),
    'template': ('float', '2.0', '1.0'),
    'float4': ('float', '2.0', '1.0'),
    'struct': None,
    'plain': None,
    'behind': None,
}


class Verdict(harness.Case):
    def capture(self, argv, status=0):
        result, path = self.record(argv, '--vgpu=small', '--capture', 'replay', '--force')
        self.assertEqual(result.status, status, result)
        return path

    def typed(self, *kinds):
        """A capture of typed.py that differs whenever it is replayed from now on."""
        for seconds in (4, 16, 64):
            result, path = self.record([sys.executable, TYPED, str(seconds), *kinds], '--vgpu=small', '--capture', 'replay', '--force')
            if result.status != harness.SKIPPED:
                break
        self.assertEqual(result.status, 0, result)
        time.sleep(max(0, (int(result.out.split()[0]) - time.monotonic_ns()) / 1e9 + 0.01))
        return path

    def replay(self, path, *options, status=SAME):
        """(the JSON of each session, the text)"""
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', *options, path)
        self.assertEqual(result.status, status, result)
        text = harness.tsctl('replay', '--on', 'vgpu', *options, path)
        self.assertEqual(text.status, status, text)
        return [json.loads(line) for line in result.out.splitlines()], text.out

    # ---- one number -------------------------------------------------------------------------------

    def check_numbers(self, path, text, *sides):
        """Operations in the text and in the JSON have the number that `view` has and `--ops` takes."""
        operations = {}
        for row in harness.Trace(path).of('operation'):
            operations.setdefault(row['op_id'], set()).add(row['kind'])
        streams = {row['op_id']: row['stream'] for row in harness.Trace(path).of('kernel', 'memcpy', 'memset')}
        found = re.findall(r'operation (\d+) \((launch|copy|fill)\b', text)
        self.assertTrue(found, text)
        for op_id, kind in found:
            self.assertIn(kind, operations[int(op_id)], text)
        for op_id, stream in re.findall(r'operation (\d+) \([^\n]*?\)+ in (?:default )?stream (\d+)', text):
            self.assertEqual(streams[int(op_id)], int(stream), text)
        for side in sides:
            self.assertIn(side['kind'], operations[side['op_id']])
            self.assertEqual(side['stream'], streams[side['op_id']])
            self.assertIn('operation %d' % side['op_id'], text)
            result = harness.tsctl('replay', '--on', 'vgpu', '--ops', side['op_id'], '--json', path)
            selected = json.loads(result.out)
            self.assertEqual((selected['launches'] == 1, selected['copies'] == 1, selected['fills'] == 1),
                             tuple(side['kind'] == kind for kind in ('launch', 'copy', 'fill')), result)

    def test_view_has_no_other_number(self):
        path = self.capture([harness.app('saxpy', 'driver'), '1'])
        for line in harness.tsctl('view', '--type', 'operation', path).out.splitlines()[1:]:
            self.assertRegex(line, r'^ *\d+ +\d+\.\d+ +operation +\S+ +[a-z_]+( |$)')

    # ---- values -----------------------------------------------------------------------------------

    def test_values(self):
        path = self.typed(*VALUES)
        sessions, text = self.replay(path, status=DIFFERS)
        heads = [line for line in text.splitlines() if line.startswith(path)]
        self.assertEqual((len(sessions), len(heads)), (len(VALUES), len(VALUES)), text)
        for session, head, (kind, value) in zip(sessions, heads, VALUES.items()):
            with self.subTest(kind=kind):
                self.assertEqual(session['verdict'], 'differs')
                self.assertIn('the replay differs from the capture', head)
                self.assertIn('in the data that operation %d copied to the host' % session['difference']['op_id'], head)
                if value:
                    self.check_value(kind, session['difference'], head, value)
                else:
                    self.check_bytes(session['difference'], head)
        self.assertIn('type: unknown', text)

    def check_value(self, kind, difference, head, value):
        self.assertEqual((difference['element_type'], difference['expected_value'], difference['found_value']), value)
        self.assertIn('(%s) is %s, was %s' % (value[0], value[2], value[1]), head)
        index, part = (SLOT // 4, 'xyzw'[SLOT % 4]) if kind == 'float4' else (SLOT, None)
        self.assertEqual((difference['element_index'], difference.get('element_part')), (index, part))
        self.assertIn('element %d%s ' % (index, '.' + part if part else ''), head)
        width = difference['element_bytes']
        self.assertEqual(difference['buffer_offset'] // width, SLOT)
        self.assertEqual((difference['parameter'], difference['typed_by']['kind']), (1, 'launch'))
        self.assertRegex(difference['typed_by']['name'], r'\blate(<float>)?\(')
        self.assertEqual(difference['operation']['kind'], 'copy')

    def check_bytes(self, difference, head):
        """A type that no signature gives is not guessed."""
        for key in ('element_type', 'element_index', 'expected_value', 'found_value', 'typed_by', 'parameter'):
            self.assertNotIn(key, difference)
        n = len(difference['found']) // 2
        self.assertIn('%d bytes from offset %d are (hex) %s, were %s' % (n, difference['offset'], difference['found'], difference['expected']), head)

    def test_numbers_of_a_difference(self):
        path = self.typed('template')
        (session,), text = self.replay(path, status=DIFFERS)
        difference = session['difference']
        # The copy and the launch, each with the stream that `view` has.
        streams = {row['op_id']: row['stream'] for row in harness.Trace(path).of('kernel', 'memcpy')}
        for side in (difference['operation'], difference['typed_by']):
            self.assertEqual(side['stream'], streams[side['op_id']])
        self.assertEqual(difference['operation']['op_id'], difference['op_id'])
        self.assertIn('launch of void late<float>(float*, float, float, unsigned long)', text)
        self.assertNotIn('_Z4late', text)
        self.assertRegex(difference['operation']['site'], r'^call \(driver\.py:\d+\)$')
        self.assertRegex(text, r'\n +late \(\S*typed\.py:\d+\)\n')
        self.assertEqual(difference['operation']['call'], 'cuMemcpyDtoH_v2')

    def test_memory(self):
        """Memory has types, too, at the end and after an operation."""
        path = self.capture([sys.executable, TYPED, '0', 'streams'])
        for options in ((), ('--compare-every', '1')):
            (session,), text = self.replay(path, '--schedules', '20', *options, status=FOUND)
            difference = session['difference']
            self.assertEqual((difference['in_memory'], difference['element_type'], difference['element_index']), (True, 'int', 0))
            place = 'after operation %d' % difference['op_id'] if options else 'at the end'
            self.assertIn('element 0 (int) is 0, was 1 in the usual order, in memory ' + place, text.splitlines()[0])

    def test_values_that_change_each_time(self):
        """The first replay's bytes cannot be had again: there are no values, and none are made up."""
        path = self.capture([sys.executable, TYPED, '0', 'clock'])
        (session,), text = self.replay(path, '--repeat', '2', status=FOUND)
        self.assertEqual((session['verdict'], session['difference']['from']), ('nondeterministic', 'replay'))
        for key in ('expected', 'element_type', 'found_value'):
            self.assertNotIn(key, session['difference'])
        self.assertIn('some of 2,048 bytes differ from the first replay, in memory at the end', text.splitlines()[0])
        self.assertIn('values: unknown', text)

    # ---- order ------------------------------------------------------------------------------------

    def check_pair(self, finding, names, prefix):
        earlier, later = finding['earlier'], finding['access']
        self.assertEqual((finding['kind'], finding['times']), ('unordered', 1))
        self.assertEqual((earlier.get('name'), later.get('name')), names)
        self.assertNotEqual(earlier['stream'], later['stream'])
        self.assertLessEqual(finding['address'] - finding['allocation'] + finding['bytes'], finding['allocation_bytes'])
        wait, synchronize, *others = finding['remedies']
        self.assertRegex(wait, r'^%sStreamWaitEvent\((default )?stream %d, event recorded in (default )?stream %d after operation %d\) before operation %d$'
                         % (prefix, later['stream'], earlier['stream'], earlier['op_id'], later['op_id']))
        self.assertRegex(synchronize, r'^%sStreamSynchronize\((default )?stream %d\) after operation %d and before operation %d$'
                         % (prefix, earlier['stream'], earlier['op_id'], later['op_id']))
        self.assertEqual(len(others), 1 if 1 in (earlier['stream_handle'], later['stream_handle']) else 0)

    def test_two_streams(self):
        path = self.capture([sys.executable, TYPED, '0', 'streams'])
        (session,), text = self.replay(path, '--check', 'order', status=FOUND)
        finding, = session['findings']
        self.check_pair(finding, ('void first<int>(int*)', 'void second<int>(int*)'), 'cu')
        earlier, later = finding['earlier'], finding['access']
        head, *rest = text.splitlines()
        self.assertIn('nothing orders operation %d (first<int>) in stream %d and operation %d (second<int>) in stream %d'
                      % (earlier['op_id'], earlier['stream'], later['op_id'], later['stream']), head)
        for side in (earlier, later):
            self.assertRegex(side['site'], r'^call \(driver\.py:\d+\)$')
            self.assertIn(', by cuLaunchKernel at ' + side['site'], text)
            self.assertRegex(text, r'stack of operation %d:\n.*\n +launch \(\S*typed\.py:\d+\)\n' % side['op_id'])
        for remedy in finding['remedies']:
            self.assertIn(remedy, text)
        self.check_numbers(path, text, earlier, later)
        self.assertEqual(finding['allocation_op_id'], next(row['op_id'] for row in harness.Trace(path).of('operation') if row['kind'] == 'alloc'))

    def test_runtime(self):
        """The runtime's names, a launch site behind nvcc's stubs, the default stream; with the first remedy nothing is found."""
        app = harness.app('verdict')
        path = self.capture([app, 'streams'])
        (session,), text = self.replay(path, '--check', status=FOUND)
        finding, = session['findings']
        self.check_pair(finding, ('void test::scale<float>(float*, float)', 'void test::add<float>(float*, float const*)'), 'cuda')
        for side in (finding['earlier'], finding['access']):
            self.assertEqual(side['call'], 'cudaLaunchKernel')
            self.assertNotIn('stub', side['site'])
            self.assertNotIn(side['name'], side['site'])
        self.check_numbers(path, text, finding['earlier'], finding['access'])
        (session,), text = self.replay(self.capture([app, 'ordered']), '--check')
        self.assertIn('--check found nothing; the replay is the same as the capture', text.splitlines()[0])
        path = self.capture([app, 'default'])
        (session,), text = self.replay(path, '--check', 'order', status=FOUND)
        finding, = session['findings']
        self.check_pair(finding, (None, 'void test::scale<float>(float*, float)'), 'cuda')
        self.assertIn('(fill) in default stream %d' % finding['earlier']['stream'], text.splitlines()[0])
        self.assertEqual(finding['remedies'][2], 'stream %d created without cudaStreamNonBlocking, so that it waits for the default stream'
                         % finding['access']['stream'])
        self.check_numbers(path, text, finding['earlier'], finding['access'])

    def test_schedules(self):
        path = self.capture([harness.app('verdict'), 'streams'])
        (session,), text = self.replay(path, '--schedules', '20', status=FOUND)
        decision, = session['decisions']
        done, other = decision['done'], decision['first_done']
        self.assertEqual((done['op_id'], done['name'], other['name']),
                         (decision['op_id'], 'void test::scale<float>(float*, float)', 'void test::add<float>(float*, float const*)'))
        head = text.splitlines()[0]
        self.assertIn('depends on the order of operation %d (test::scale<float>) in stream %d and operation %d (test::add<float>) in stream %d'
                      % (done['op_id'], done['stream'], other['op_id'], other['stream']), head)
        self.assertIn('element 0 (float) is 6.0, was 4.0 in the usual order', head)
        self.assertEqual(len(decision['remedies']), 2)
        for remedy in decision['remedies']:
            self.assertIn(remedy, text)
        self.check_numbers(path, text, done, other, session['difference']['operation'])

    def test_atomics(self):
        path = self.capture([harness.app('verdict'), 'sum'])
        (session,), text = self.replay(path, '--schedules', '50', status=FOUND)
        decision = session['decisions'][-1]
        self.assertIn('depends on the order of the threads of operation %d (test::sum<float>)' % decision['op_id'], text.splitlines()[0])
        difference = session['difference']
        self.assertEqual((difference['element_type'], difference['element_index']), ('float', 3))
        # Both values are printed apart, though they may be neighbours.
        self.assertNotEqual(difference['expected_value'], difference['found_value'])
        self.assertTrue(decision['remedies'])
        self.check_numbers(path, text, decision['done'])

    def test_no_other_order(self):
        path = self.capture([harness.app('saxpy', 'driver'), '1'])
        (session,), text = self.replay(path, '--schedules', '3')
        self.assertIn('the results are the same in 3 other orders', text.splitlines()[0])

    # ---- other mistakes ---------------------------------------------------------------------------

    def test_threads(self):
        path = self.capture([harness.app('faults', 'driver'), 'race'])
        (session,), text = self.replay(path, '--check', status=FOUND)
        race, = [finding for finding in session['findings'] if finding['kind'] == 'race']
        self.assertIn('__syncthreads() between turn.cu:20 and turn.cu:22', race['remedies'][0])
        # The race is also a read of memory that nobody wrote yet: the first line has the cause.
        self.assertIn('a data race between two threads of operation %d (turn_race)' % race['access']['op_id'], text.splitlines()[0])
        self.assertIn(race['remedies'][0], text)
        self.check_numbers(path, text, race['access'])

    def test_the_host(self):
        path = self.capture([harness.app('faults', 'driver'), 'host'])
        (session,), text = self.replay(path, '--check', status=FOUND)
        finding, = session['findings']
        self.assertIn('the host changed memory before operation %d had copied it' % finding['earlier']['op_id'], text.splitlines()[0])
        self.assertEqual(finding['remedies'], ['cuStreamSynchronize(stream %d) after operation %d and before the host writes to that memory'
                                               % (finding['earlier']['stream'], finding['earlier']['op_id'])])
        self.check_numbers(path, text, finding['earlier'], finding['access'])

    def test_memory_that_is_not_there(self):
        for fault, status, words in (('bounds', 9, 'writes memory that is not allocated'), ('stray', 0, 'writes memory that it has no pointer to'),
                                     ('unwritten', 0, 'reads memory that was never written')):
            path = self.capture([harness.app('faults', 'driver'), fault], status=status)
            (session,), text = self.replay(path, '--check', status=FOUND)
            finding, = session['findings']
            self.assertIn(words, text.splitlines()[0])
            self.assertEqual(finding['remedies'], [])
            self.check_numbers(path, text, finding['access'])

    def test_a_fault(self):
        path = self.capture([harness.app('faults', 'driver'), 'bounds'], status=9)
        (session,), text = self.replay(path)
        self.assertIn('as in the capture, a fault ended the work at operation %d (spill)' % session['refusal']['op_id'], text.splitlines()[0])
        self.assertEqual(session['refusal']['operation']['name'], 'spill')

    def test_nothing_to_compare(self):
        """Without a result in the capture the replay is no proof, and does not claim to be one."""
        (session,), text = self.replay(self.capture([harness.app('faults', 'driver'), 'none']))
        self.assertEqual((session['verdict'], session['results']), ('same', 0))
        self.assertIn('the capture has no result to compare them with', text.splitlines()[0])

    # ---- the debugger -----------------------------------------------------------------------------

    def debug(self, path, *commands):
        result = subprocess.run([harness.TSCTL, 'replay', '--on', 'vgpu', '--debug', path], input='\n'.join(commands) + '\n',
                                capture_output=True, text=True, timeout=harness.SECONDS, env=harness.environment())
        self.assertEqual((result.returncode, result.stderr), (0, ''), result)
        return result.stdout

    def test_debugger(self):
        path = self.capture([sys.executable, TYPED, '0', 'streams'])
        launches = [row['op_id'] for row in harness.Trace(path).of('kernel')]
        out = self.debug(path, 'where', 'break nobody', 'break second<int>', 'break second', 'breaks', 'continue', 'continue', 'continue', 'continue')
        for op_id, name in zip(launches, ('first', 'second')):
            self.assertIn('operation %d: kernel void %s<int>(int*), grid' % (op_id, name), out)
        self.assertIn('thread (0,0,0): first<int>, PTX line', out)
        self.assertIn('in a function nobody', out)
        self.assertIn('1  _Z6secondIiEvPT_', out)
        self.assertRegex(out, r'stop 1: block \(0,0,0\) warp 1 thread \(32,0,0\): second<int>, PTX line')


if __name__ == '__main__':
    harness.main()
