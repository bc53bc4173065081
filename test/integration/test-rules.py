#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of streams, one by one, in real programs on the virtual GPU: what waits for what while a kernel is held, as `tsctl state` tells it."""
import json
import os
import sys

import harness

PROGRAM = os.path.join(harness.SOURCE, 'test', 'apps', 'rules.py')


class Rules(harness.Case):
    def recorded(self, steps, shape='h200'):
        result, path = self.record([sys.executable, PROGRAM] + steps.split(), '--vgpu=%s:2,clock=host' % shape, '-q', '--force')
        self.assertEqual(result.status, 0, result)
        instants = [int(line.split()[1]) for line in result.out.splitlines() if line.startswith('now ')]
        self.trace = harness.Trace(path)
        self.calls = {row['op_id']: row['name'] for row in self.trace.of('api')}
        self.rows = {row['name'].split('(')[0]: row for row in self.trace.of('kernel')}
        self.names = {row['op_id']: name for name, row in self.rows.items()}
        return instants

    def state(self, at_ns):
        result = harness.tsctl('state', '--json', '--at', '@%d' % at_ns, self.trace.path)
        self.assertEqual(result.status, 0, result)
        state = json.loads(result.out)
        self.assertFalse(state['incomplete'])
        return state

    def name(self, op_id):
        return self.names.get(op_id) or self.calls.get(op_id)

    def told(self, at_ns):
        """Of each kernel and copy under way: its state, what it waits for, and behind whom."""
        told = {}
        for op in self.state(at_ns)['operations']:
            name = op['name'].split('(')[0] if op['type'] == 'kernel' else op['type']
            told[name] = ((op['state'], op.get('waits_for', ''), self.name(op.get('waits_for_op_id', 0))), op['unsure'])
        return told

    def check(self, steps, **want):
        """At `now` those are under way; a state alone, or with what is waited for and for whom: certainly, but for those that say `?`."""
        told = self.told(self.recorded(steps)[0])
        self.assertEqual(sorted(told), sorted(want), told)
        for name, words in want.items():
            words = words.split()
            is_unsure = words[-1] == '?'
            words = words[:-1] if is_unsure else words
            got, unsure = told[name]
            self.assertEqual(got[0], words[0], (name, told))
            if words[0] in ('queued', 'waiting'):
                self.assertEqual(got[1], words[1], (name, told))
                self.assertIn(got[2], words[2].split('|'), (name, told))
            self.assertEqual('dependency' in unsure, is_unsure, (name, told))
            self.assertFalse(set(unsure) & {'overlap', 'stream', 'call', 'device'}, (name, told))

    #   b1  aaaaaaaa
    #   L           bbbb    waits for a; what comes then in a blocking stream waits for b
    #   b2              cccc
    #   n1  dddddddd        takes no part
    def test_legacy_stream(self):
        self.check('a:b1 begun:a b:L c:b2 d:n1 begun:d now', a='running', b='waiting legacy_stream a',
                   c='waiting legacy_stream b', d='running')

    #   b1  aaaaaaaa
    #   T   bbbbbbbb        a thread's own default stream: does not wait for a,
    #   L           cccc    and is waited for as a is
    #   n1  dddddddd
    def test_own_default_stream(self):
        self.check('a:b1 begun:a b:T begun:b c:L now', a='running', b='running', c='waiting legacy_stream a|b')
        self.check('a:L begun:a b:T d:n1 begun:d now', a='running', b='waiting legacy_stream a', d='running')
        # Those of two threads do not wait for each other, and both are waited for.
        self.check('a:T begun:a other:b begun:b c:L now', a='running', b='running', c='waiting legacy_stream a|b')

    #   L   aaaaaaaa        of one device
    #   L'  bbbbbbbb        of another: neither waits for the other,
    #   b1'         cccc    and c for its own alone
    def test_legacy_stream_of_each_device(self):
        self.check("a:L begun:a b:L' begun:b c:b1' now", a='running', b='running', c='waiting legacy_stream b')

    #   b1  aaaa|0|bbbb|0|
    #   n1        w cccc        for the version that was recorded when it was asked for,
    #   n2               w dddd     and for the next one
    def test_events_by_version(self):
        self.check('a:b1 begun:a record:0:b1 wait:n1:0 c:n1 b:b1 record:0:b1 wait:n2:0 d:n2 now',
                   a='running', b='queued stream a', c='waiting event a', d='waiting event b')

    #   n1  w aaaa              never recorded: nothing to wait for, as far as is known
    #   n2    bbbb w cccc       an event that is waited for before it is recorded
    def test_events_that_were_not_recorded(self):
        self.check('wait:n1:1 a:n1 begun:a now', a='running ?')
        self.check('a:b1 begun:a wait:n1:0 b:n1 begun:b record:0:b1 now', a='running', b='running ?')

    #   L       |0|             recorded behind a, by the rule,
    #   b1  aaaa
    #   n1        w bbbb        and so waited for from where the rule does not hold
    def test_record_in_the_legacy_stream(self):
        self.check('a:b1 begun:a record:0:L wait:n1:0 b:n1 now', a='running', b='waiting event a')

    #   n1  aaaa|0|
    #   L         w             waits, with nothing behind it,
    #   b1          bbbb        and what comes then in a blocking stream waits for that
    def test_wait_in_the_legacy_stream(self):
        self.check('a:n1 begun:a record:0:n1 wait:L:0 b:b1 c:n2 begun:c now', a='running', b='waiting legacy_stream a', c='running')

    #   b1, device 0   aaaa|0|
    #   n1', device 1        w bbbb     whichever device is the current one when the wait is asked for
    #   b1', device 1     cccc
    def test_across_devices(self):
        for current in (0, 1):
            self.check("a:b1 begun:a record:0:b1 current:%d wait:n1':0 current:0 b:n1' c:b1' begun:c now" % current,
                       a='running', b='waiting event a', c='running')
            self.assertEqual({name: self.rows[name]['device'] for name in 'abc'}, {'a': 0, 'b': 1, 'c': 1})

    #   n1  aaaa copy           pinned: the call returns, the copy waits for its turn
    #   n2  [page     ]         pageable: the host waits for it, and it for what is before it
    def test_copies(self):
        self.check('a:n1 begun:a copy:n1 now', a='running', memcpy='queued stream a')
        state = self.state(self.rows['a']['end_ns'] - 1)
        self.assertFalse([thread for thread in state['threads'] if thread['call'].startswith('cuMemcpy')])
        # From pageable memory to the device too, once what is to be copied was taken.
        self.check('a:n1 begun:a up:n1 now', a='running', memcpy='queued stream a')
        thread, told = self.held('a:n2 begun:a later:a page:n2', 'cuMemcpyDtoHAsync_v2')
        self.assertEqual(told['memcpy'][0], ('queued', 'stream', 'a'))
        self.assertEqual(thread['waits_for_op_id'], thread['op_id'])
        self.assertNotIn('blocked', thread)

    def held(self, steps, call):
        """The thread that waited in the call while kernel a was held, and what was told of the device."""
        for _ in range(5):
            self.recorded(steps)
            at_ns = self.rows['a']['end_ns'] - 1
            threads = [thread for thread in self.state(at_ns)['threads'] if thread['call'] == call]
            # The host came too late to wait, where it was held up itself.
            if threads:
                self.assertEqual(len(threads), 1)
                return threads[0], self.told(at_ns)
        self.fail('never seen to wait in %s' % call)

    #   n1   aaaa
    #   b1   bbbb                        of the same device
    #   host [sync  ]                    the stream's end, an event's, the device's
    def test_host_waits(self):
        thread, _ = self.held('go:b b:b1 a:n1 begun:a later:a sync:n1', 'cuStreamSynchronize')
        self.assertEqual((thread['blocked'], self.name(thread['waits_for_op_id'])), ('stream_synchronize', 'a'))
        self.assertEqual(thread['blocked_stream'], self.rows['a']['stream'])
        thread, _ = self.held('go:b b:b1 a:n1 begun:a later:a device', 'cuCtxSynchronize')
        self.assertEqual((thread['blocked'], self.name(thread['waits_for_op_id'])), ('context_synchronize', 'a'))
        thread, _ = self.held('a:n1 begun:a record:0:n1 later:a event:0', 'cuEventSynchronize')
        self.assertEqual(thread['blocked'], 'event_synchronize')
        self.assertNotIn('waits_for_op_id', thread)

    #   n1  f......aaaa             behind a function of the host: until when that took is not recorded
    #   n1  f......|0|
    #   b1           w bbbb         for a, which is certain; and, with nothing between, for the function
    def test_functions_of_the_host(self):
        self.check('function:n1 a:n1 record:0:n1 wait:b1:0 b:b1 c:n2 begun:c now', a='waiting host cuLaunchHostFunc ?',
                   b='waiting event a', c='running')
        self.check('function:n1 record:0:n1 wait:b1:0 b:b1 now', b='waiting host cuLaunchHostFunc ?')

    #   n1  f......[aaaa]bbbb       a launch of a graph waits for the function, and what follows for the launch;
    #   n1  f......aaaa             what is behind it has begun: it was over
    #   n2         w cccc
    def test_graphs_behind_functions_of_the_host(self):
        self.check('capture:n1 a:n1 end:n1 function:n1 launch:n1 b:n1 now', a='waiting host cuLaunchHostFunc ?', b='queued stream a')
        self.check('function:n1 record:0:n1 a:n1 wait:n2:0 c:n2 go:f begun:a begun:c now', a='running ?', c='running ?')

    #   b1  [aaaa]                  the legacy default stream's rule holds for launches of graphs, and the host waits for them
    #   L         bbbb
    #   b2            [cccc]
    def test_graphs_and_the_legacy_stream(self):
        self.check('capture:b1 a:b1 end:b1 launch:b1 begun:a b:L d:n1 begun:d now', a='running', b='waiting legacy_stream a', d='running')
        self.check('capture:b2 c:b2 end:b2 b:L begun:b launch:b2 now', b='running', c='waiting legacy_stream b')
        thread, _ = self.held('capture:n1 a:n1 end:n1 go:b b:b1 launch:n1 begun:a later:a sync:n1', 'cuStreamSynchronize')
        self.assertEqual((thread['blocked'], self.name(thread['waits_for_op_id'])), ('stream_synchronize', 'a'))

    #   n1  f......|0|              when it is reached is not recorded: it may be outstanding,
    #   n1  f......aaaa|0|          until when it certainly is, where a is before it
    def test_events_behind_functions_of_the_host(self):
        for steps, call, unsure in (('function:n1 record:0:n1 now', 'cuLaunchHostFunc', ['dependency']),
                                    ('function:n1 a:n1 record:0:n1 now', 'a', []), ('a:n1 record:0:n1 now', 'a', []),
                                    ('a:n1 function:n1 record:0:n1 now', 'a', ['dependency'])):
            at, = self.recorded(steps)
            event, = self.state(at)['events']
            self.assertEqual((self.name(event['waits_for_op_id']), event['unsure'], 'due_ns' in event), (call, unsure, call == 'a'))

    #   n1  + aaaa -        alive from the call that asks for it to the call that gives it back
    def test_memory_of_streams(self):
        at = self.recorded('alloc:n1 a:n1 begun:a now free:n1 now')
        held = [[block for block in self.state(at_ns)['allocations'] if block.get('pool')] for at_ns in at]
        self.assertEqual([[block['bytes'] for block in blocks] for blocks in held], [[4096], []])
        self.assertEqual(held[0][0]['stream'], self.rows['a']['stream'])
        # What is given back is the stream's own again at once, though a is yet to run there; and others' when it has.
        #   n1  f......aaaa        + -+
        #   n2                   +   -
        at = self.recorded('function:n1 alloc:n1 a:n1 free:n1 alloc:n1 alloc:n2 now free:n2 free:n1 now')
        rows = [row['address'] for row in self.trace.of('alloc') if row.get('pool')]
        self.assertEqual(rows[0], rows[1])
        self.assertNotEqual(rows[1], rows[2])
        held = [[block['address'] for block in self.state(at_ns)['allocations'] if block.get('pool')] for at_ns in at]
        self.assertEqual(held, [sorted(rows[1:]), []])

    #   n2  aaaa [ b ]          a graph's nodes stand in the stream that it was launched in,
    #   b1       [ c ]          wherever they were captured;
    #   b1  dddd                that does not hold the stream that was captured with it
    #   n2             eeee
    def test_graphs(self):
        self.check('a:n2 begun:a capture:n2 b:n2 record:1:n2 wait:b1:1 c:b1 record:2:b1 wait:n2:2 end:n2 '
                   'd:b1 begun:d launch:n2 e:n2 now', a='running', d='running', b='queued stream a', c='queued stream a',
                   e='queued stream b|c')
        self.assertEqual((self.trace.of('event'), self.trace.of('stream_wait')), ([], []))

    def test_priorities(self):
        self.recorded('a:hi b:mid go:a go:b')
        priorities = {row['stream']: row['priority'] for row in self.trace.of('stream') if row['action'] == 'created'}
        self.assertEqual([priorities[self.rows[name]['stream']] for name in 'ab'], [-5, -2])
        self.assertEqual(sorted(priorities.values())[3:4], [0])

    def in_turn(self, steps, turns):
        """Kernels that each take all of the device: at each `now` one runs, for which all that come later wait."""
        for at_ns, of in zip(self.recorded(steps, 'small'), [turns[i:] for i in range(len(turns))], strict=True):
            told = self.told(at_ns)
            want = {name: ('waiting', 'engine', of[0]) for name in of[1:]}
            want[of[0]] = ('running', '', None)
            self.assertEqual({name: state for name, (state, _) in told.items()}, want)
            # What nodes of graphs wait for within their launch is not in the trace; nor is that an engine was taken, which is inferred.
            self.assertEqual({name for name, (_, unsure) in told.items() if 'engine' in unsure}, set(of[1:]))
            self.assertFalse({word for _, unsure in told.values() for word in unsure} - {'graph', 'engine'}, told)

    #   n1   aaaa                   takes all of the device; b is called next, and c, whose stream
    #   n2   ....        bbbb       has the higher priority, overtakes it, and d of one between,
    #   mid  ....    dddd           but not a, which runs
    #   hi   ....cccc
    def test_priorities_where_the_device_is_full(self):
        self.in_turn('full:a:n1 begun:a full:b:n2 full:d:mid full:c:hi now go:a begun:c now go:c begun:d now go:d begun:b now', 'acdb')

    #   n1   aaaa
    #   hi   ....bbbb               of one priority: in the order of their calls,
    #   hi2  ........cccc           and in each stream in its own
    def test_one_priority(self):
        self.in_turn('full:a:n1 begun:a full:b:hi full:c:hi2 now go:a begun:b now go:b begun:c now', 'abc')

    #   n1   aaaa
    #   mid  ....    cccc
    #   n2   ....bbbb               its launch has a higher priority than its stream, and so than c,
    #   hi   ....        dddd       and this one has a lower one
    def test_priorities_of_launches(self):
        self.in_turn('full:a:n1 begun:a own:d:hi:-1 full:c:mid own:b:n2:-4 now go:a begun:b now go:b begun:c now go:c begun:d now', 'abcd')

    #   n1   aaaa                   a graph's nodes have the priority of the stream that it is launched in,
    #   mid  ....bbbb               wherever they were captured;
    #   n2   ....    [c]            instantiated so, that of the one they were captured in
    def test_priorities_of_graphs(self):
        for end, launched, turns in (('end', 'n2', 'abc'), ('end', 'hi2', 'acb'), ('ends', 'n2', 'acb')):
            begun = 'now go:%s begun:%s now go:%s begun:%s now' % (turns[0], turns[1], turns[1], turns[2])
            self.in_turn('capture:hi full:c:hi %s:hi full:a:n1 begun:a launch:%s full:b:mid %s' % (end, launched, begun), turns)

    #   n1   aaaa
    #   hi   copy                   a full device takes no copy engine: copies wait for nobody's kernel, whatever their priority
    def test_copies_beside_a_full_device(self):
        at, = self.recorded('full:a:n1 begun:a full:b:hi copy:n2 sync:n2 now', 'small')
        self.assertEqual(self.told(at), {'a': (('running', '', None), []), 'b': (('waiting', 'engine', 'a'), ['engine'])})


if __name__ == '__main__':
    harness.main()
