# SPDX-License-Identifier: Apache-2.0
"""`tsctl replay --on vgpu --check`: planted mistakes are found and named where they are; in programs without, nothing is."""
import json
import sys
import unittest

import clean
import harness

SAME, FOUND, BAD = 0, 1, 2
FAULTY, GPU_FAILED = 'faults', 9
# A kernel faults, the wait for it returns the fault, and the module is unloaded.
TRAPS = harness.DRIVER_PROGRAM + '''
PTX = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry traps() { trap; }"
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
assert not cuda.cuModuleLoadData(ctypes.byref(module), PTX)
assert not cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'traps')
assert not cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
assert cuda.cuCtxSynchronize()
cuda.cuModuleUnload(module)
'''


class Check(harness.Case):
    def check(self, argv, *options, what='all', status=0, vgpu='small'):
        """(exit status, the JSON of each session)"""
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay', '--force')
        self.assertEqual(result.status, status, result)
        result = harness.tsctl('replay', '--on', 'vgpu', '--check', what, '--json', *options, path)
        return result.status, [json.loads(line) for line in result.out.splitlines()], path

    def find(self, fault, what='all', status=0):
        """The only finding of a mistake, and where the trace has its operations: by sequence."""
        result, (session,), path = self.check([harness.app(FAULTY, 'driver'), fault], what=what, status=status)
        self.assertEqual(result, FOUND, session)
        self.assertEqual(session['checked'], ['races', 'init', 'bounds', 'order'] if what == 'all' else [what])
        self.assertNotIn('unlooked', session)
        self.assertEqual(len(session['findings']), 1, session['findings'])
        text = harness.tsctl('replay', '--on', 'vgpu', '--check', what, path)
        self.assertEqual(text.status, FOUND, text)
        operations = {row['sequence']: row for row in harness.Trace(path).of('operation')}
        return session['findings'][0], operations, text.out

    def test_a_race(self):
        found, operations, text = self.find('race', 'races')
        self.assertEqual((found['kind'], found['space'], found['kernel']), ('race', 'shared', 'turn_race'))
        sides = {side['access']: side for side in (found['access'], found['earlier'])}
        self.assertEqual(sides['read']['line'], sides['write']['line'] + 2)
        self.assertEqual((sides['write']['source_file'], sides['write']['source_line']), ('turn.cu', 20))
        self.assertEqual((sides['read']['source_file'], sides['read']['source_line']), ('turn.cu', 22))
        self.assertEqual(sides['read']['thread'][0] ^ sides['write']['thread'][0], 128)
        self.assertEqual(operations[found['access']['sequence']]['kind'], 'launch')
        self.assertIn('a data race', text)
        self.assertIn('turn.cu:20', text)

    def test_a_read_of_what_nobody_wrote(self):
        found, operations, text = self.find('unwritten')
        self.assertEqual((found['kind'], found['kernel'], found['times']), ('unwritten', 'increase', 256))
        self.assertEqual((found['address'], found['allocation_bytes']), (found['allocation'], 1024))
        self.assertEqual(found['access']['thread'], [0, 0, 0])
        # Of the two launches of that kernel it is the later one.
        launches = [n for n, row in operations.items() if row['kind'] == 'launch']
        self.assertEqual(found['access']['sequence'], max(launches))
        self.assertIn('was never written', text)

    def test_two_streams(self):
        found, operations, text = self.find('streams')
        # The kernel reads and writes there: that is one pair of operations all the same.
        self.assertEqual((found['kind'], found['times']), ('unordered', 1))
        self.assertLessEqual(found['bytes'], found['allocation_bytes'])
        sides = [operations[found[side]['sequence']] for side in ('earlier', 'access')]
        self.assertEqual([side['kind'] for side in sides], ['launch', 'launch'])
        self.assertNotEqual(sides[0]['stream_handle'], sides[1]['stream_handle'])
        self.assertEqual([found[side]['name'] for side in ('earlier', 'access')], ['turn', 'increase'])
        self.assertIn('nothing orders', text)

    def test_host_memory_that_changes(self):
        found, operations, text = self.find('host')
        self.assertEqual(found['kind'], 'host-changed')
        copies = [n for n, row in operations.items() if row['kind'] == 'copy']
        self.assertEqual([found[side]['sequence'] for side in ('earlier', 'access')], copies)
        self.assertIn('Host memory changed', text)

    def test_out_of_bounds(self):
        found, operations, text = self.find('bounds', status=GPU_FAILED)
        self.assertEqual((found['kind'], found['kernel']), ('out-of-bounds', 'spill'))
        self.assertEqual((found['access']['access'], found['access']['thread']), ('write', [255, 0, 0]))
        self.assertEqual(found['address'], found['allocation'] + 1024)
        self.assertEqual(operations[found['access']['sequence']]['kind'], 'launch')
        self.assertIn('outside all allocations', text)
        # Its fault is the program's: a replay that ends by the same one is the same.
        path = self.path('recorded.sbt')
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', path)
        session = json.loads(result.out)
        self.assertEqual((result.status, session['verdict'], session['faulted_as_captured']), (0, 'same', True), result)
        self.assertIn('a kernel faulted', session['refusal']['why'])
        self.assertIn('ended the work, as in the capture', harness.tsctl('replay', '--on', 'vgpu', path).out)

    def test_fault_before_a_later_operation(self):
        """The call that returned the fault only waits: a replay notices the fault at the operation behind it."""
        result, path = self.record([sys.executable, '-c', TRAPS], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        self.assertIn('module_unload', [row['kind'] for row in harness.Trace(path).of('operation')])
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', path)
        session = json.loads(result.out)
        self.assertEqual((result.status, session['verdict'], session['faulted_as_captured']), (0, 'same', True), result)

    def test_another_allocation(self):
        """What is there is allocated, and the kernel was not given it."""
        found, operations, text = self.find('stray')
        self.assertEqual((found['kind'], found['kernel'], found['times']), ('stray', 'stray', 256))
        self.assertEqual((found['access']['access'], found['access']['thread']), ('write', [0, 0, 0]))
        self.assertEqual((found['address'], found['allocation_bytes']), (found['allocation'], 1024))
        launches = [n for n, row in operations.items() if row['kind'] == 'launch']
        self.assertEqual(found['access']['sequence'], max(launches))
        self.assertIn('no pointer to', text)

    def test_clean(self):
        for name, arguments, vgpu in clean.CLEAN + clean.COMPUTE:
            for argv in clean.commands(name, arguments):
                with self.subTest(argv=argv):
                    self.check_clean(argv, vgpu)

    def check_clean(self, argv, vgpu):
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay', '--force')
        if result.status == harness.SKIPPED:
            return
        self.assertEqual(result.status, 0, result)
        result = harness.tsctl('replay', '--on', 'vgpu', '--check', 'all', '--json', path)
        self.assertEqual(result.status, SAME, result)
        for line in result.out.splitlines():
            session = json.loads(line)
            self.assertEqual((session['findings'], session['verdict']), ([], 'same'))

    def test_some_checks(self):
        _, _, path = self.check([harness.app(FAULTY, 'driver'), 'race'])
        for what, status in (('races', FOUND), ('order,bounds', SAME), ('order,races', FOUND)):
            result = harness.tsctl('replay', '--on', 'vgpu', '--check', what, path)
            self.assertEqual(result.status, status, result)
        for options in (('--on', 'vgpu', '--check', 'everything'), ('--check', 'all'),
                        ('--on', 'vgpu', '--mode', 'dry-run', '--check', 'all')):
            result = harness.tsctl('replay', *options, path)
            self.assertEqual((result.status, result.out), (BAD, ''), result)
            self.assertIn('--check', result.err)


if __name__ == '__main__':
    unittest.main()
