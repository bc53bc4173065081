#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tsctl replay --on vgpu --debug`: kernels stopped and looked at, by commands; the same commands have the same answers."""
import random
import re
import subprocess

import harness

COMMANDS = ('break', 'breaks', 'delete', 'continue', 'step', 'skip', 'where', 'list', 'backtrace', 'blocks', 'warps', 'thread',
            'registers', 'registers all', 'print', 'shared', 'memory', 'set', 'write', 'write shared', 'look', 'look shared', 'look [%rd1]', 'break later', 'finish', 'help', 'nonsense', '')
WORDS = ('0', '1', '7', '40', '31', '-1', '99999999999999999999', '0x0', '0xffffffffffffffff', '0x1000000000000', '%r1', '%rd2', '%p1',
         'turn_race', 'turn.cu:22', ':', 'a:', ':9', '%', 'x' * 300, '\u00e9', '\x1b[2J', 'all', '1e9', 'if', 'and', '==', '<=', '%tid.x', 'later')


class Debug(harness.Case):

    def capture(self):
        result, path = self.record([harness.app('faults', 'driver'), 'race'], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        return path

    def debug(self, path, commands, *options):
        result = subprocess.run([harness.TSCTL, 'replay', '--on', 'vgpu', '--debug', *options, path],
                                input='\n'.join(commands) + '\n', capture_output=True, text=True,
                                timeout=harness.SECONDS, env=harness.environment())
        self.assertEqual((result.returncode, result.stderr), (0, ''), result)
        return result.stdout

    def test_a_session(self):
        path = self.capture()
        calls = [row['op_id'] for row in harness.Trace(path).of('kernel') if row['name'] == 'turn_race']
        commands = ('where', 'break turn.cu:22', 'step 4', 'print %r1', 'continue', 'list', 'shared 0 16', 'warps', 'blocks',
                    'backtrace', 'thread 0 40', 'registers', 'delete 1', 'continue')
        out = self.debug(path, commands, '--ops', str(calls[0]))
        self.assertEqual(out, self.debug(path, commands, '--ops', str(calls[0])))
        # Only what is selected is stopped.
        self.assertEqual(len(re.findall('kernel turn_race, grid', out)), 1)
        self.assertNotIn('kernel increase', out)
        self.assertEqual(out.count('stop 1: block (0,0,0) warp 0 thread (0,0,0): turn_race'), 1)
        self.assertRegex(out, r'->\s+\d+  ld\.shared\.u32 %r6, \[%r5\];')
        # %r1 is %tid.x, and each thread of the first warp has stored it.
        self.assertIn('  (31,0,0)  0x1f  31', out)
        self.assertIn('0x0  00000000 01000000 02000000 03000000', out)
        self.assertIn('* 0  (0,0,0)  256 of 256 threads, 8 warps, 1024 bytes shared', out)
        self.assertIn('#0  turn_race, PTX line', out)
        self.assertIn('warp 1 thread (40,0,0)', out)
        self.assertTrue(out.endswith('the kernel has ended\nthe replay has ended\n'), out)

    def test_look(self):
        """`look` is `print`, `memory` or `shared`, by what it is given; and memory where a register points to."""
        path = self.capture()
        begin = ['break turn.cu:22', 'continue', 'delete 1']
        for look, same in (('look %r1', 'print %r1'), ('look shared 0 16', 'shared 0 16'), ('look 0x10 4', 'memory 0x10 4')):
            self.assertEqual(self.debug(path, begin + [look, 'quit']), self.debug(path, begin + [same, 'quit']), look)
        registers = self.debug(path, begin + ['registers all', 'quit'])
        name, value = re.search(r'(?m)^(%rd[0-9]+) +[a-z]64 +(0x[0-9a-f]{6,})', registers).groups()
        self.assertEqual(self.debug(path, begin + ['look [%s] 8' % name, 'quit']),
                         self.debug(path, begin + ['memory %s 8' % value, 'quit']))
        for wrong in ('look', 'look increase', 'look []', 'look [%nothing]'):
            self.assertIn('error: ', self.debug(path, begin + [wrong, 'quit']), wrong)

    def test_steps_of_a_warp(self):
        """Each is the next instruction of that warp, whatever else runs."""
        path = self.capture()
        out = self.debug(path, ['step'] * 6 + ['quit'])
        lines = [int(n) for n in re.findall(r'warp 0 thread \(0,0,0\): turn_race, PTX line (\d+)', out)]
        self.assertEqual(lines, list(range(lines[0], lines[0] + len(lines))))
        self.assertEqual(len(lines), 7)

    def test_a_function(self):
        path = self.capture()
        out = self.debug(path, ['break increase', 'continue', 'continue', 'where', 'quit'])
        self.assertIn('kernel increase, grid', out)
        # Where each kernel begins is a stop too, but not this one.
        self.assertRegex(out, r'(?m)^.*stop 1: .*: increase, PTX line \d+')

    def test_once_a_warp(self):
        """Who waits at a barrier, and goes on when others have run, is where it was: a function, and a line, is come to once."""
        result, path = self.record([harness.app('faults', 'driver')], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        for place, warps in (('turn', range(1, 8)), ('turn.cu:20', range(8)), ('turn.cu:22', range(8))):
            with self.subTest(place):
                out = self.debug(path, ['break ' + place] + ['continue'] * 20 + ['quit'])
                stops = re.findall(r'stop 1: block \(0,0,0\) warp (\d+) thread .*: turn, PTX line', out)
                # The kernel begins with the first warp in the function.
                self.assertEqual(sorted(map(int, stops)), list(warps))

    def test_a_condition(self):
        path = self.capture()
        out = self.debug(path, ['break turn.cu:22 if %tid.x >= 37 and %r1 < 0x27', 'breaks', 'continue', 'where',
                                'quit'])
        self.assertRegex(out, r'1  turn\.cu:22 if %tid\.x >= 37 and %r1 < 0x27')
        self.assertIn('stop 1: block (0,0,0) warp 1 thread (37,0,0): turn_race', out)
        # A register that is not there where it stops is told.
        out = self.debug(path, ['break turn.cu:22 if %r77 == 1', 'continue', 'quit'])
        self.assertIn('stop 1 (there is no %r77 here): ', out)
        for command, told in (('break turn.cu:22 if', 'with blanks'), ('break turn.cu:22 if %r1 = 2', 'with blanks'),
                              ('break turn.cu:22 if %r1 == x', 'not a value of this register: x'),
                              ('break turn.cu:22 when', 'break PLACE [if TEST')):
            self.assertIn('error: ', self.debug(path, [command, 'quit']))
            self.assertIn(told, self.debug(path, [command, 'quit']))

    def test_places_that_are_not_there(self):
        """They are refused, with the next one that is; what another module may have can be asked for."""
        path = self.capture()
        out = self.debug(path, ['break turn.cu:21', 'break turn.cu:23', 'break 3', 'break other.cu:22', 'break nobody', 'breaks',
                                'break later nobody', 'continue'])
        self.assertIn('is at turn.cu:21; the next line that has one is 22', out)
        self.assertIn('is at turn.cu:23 (', out)
        self.assertRegex(out, r'is at PTX line 3; the next line that has one is \d+')
        self.assertIn('is at other.cu:22 (', out)
        self.assertIn('is in a function nobody', out)
        self.assertEqual(out.count('error: no instruction'), 5)
        self.assertEqual(re.findall(r'^stop \d+$', out, re.M), ['stop 1'])

    def test_what_is_changed(self):
        """Registers and memory: the kernel goes on with what was written."""
        path = self.capture()
        out = self.debug(path, ['break turn.cu:20 if %tid.x == 0', 'continue', 'set %r1 77', 'thread 0 1', 'set %r1 -1', 'break turn.cu:22',
                                'continue', 'shared 0 8', 'write shared 512 0x12345678', 'write shared 516 1.5', 'shared 512 8',
                                'write shared 4096 1', 'write 0 1', 'set %nothing 1', 'set %r1 x', 'write shared 0 1 3', 'quit'])
        self.assertIn('0x0  4d000000 ffffffff', out)
        self.assertIn('0x200  78563412 0000c03f', out)
        self.assertEqual(out.count('error: there is no such memory'), 2)
        self.assertIn('error: no register of that name', out)
        self.assertIn('error: set %REGISTER VALUE, of a register of type', out)
        self.assertIn('error: write [shared] ADDRESS VALUE', out)

    def test_finish(self):
        result, path = self.record([harness.app('faults', 'driver'), 'call'], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        out = self.debug(path, ['break later plus if %tid.x == 40', 'skip', 'skip', 'continue', 'backtrace', 'finish', 'where', 'finish', 'quit'])
        self.assertRegex(out, r'#0  plus, PTX line \d+\n#1  added, PTX line \d+')
        self.assertRegex(out, r'#1.*\nblock \(0,0,0\) warp 1 thread \(40,0,0\): added')
        self.assertIn('error: this is the kernel: it has no caller', out)

    def test_hostile_commands(self):
        path, dice = self.capture(), random.Random(4)
        for _ in range(6):
            commands = [' '.join([dice.choice(COMMANDS)] + dice.choices(WORDS, k=dice.randrange(4))) for _ in range(120)]
            commands.insert(dice.randrange(120), 'y' * 5000)
            out = self.debug(path, commands)
            self.assertNotIn('\x1b', out)

    def test_refusals(self):
        path = self.capture()
        for options in (('--debug',), ('--on', 'vgpu', '--debug', '--check', 'all'), ('--on', 'vgpu', '--debug', '--json')):
            result = harness.tsctl('replay', *options, path)
            self.assertEqual(result.status, 2, result)
            self.assertIn('--debug', result.err)


if __name__ == '__main__':
    harness.main()
