# SPDX-License-Identifier: Apache-2.0
"""Perfetto's traces, read and checked without any of its own code: the wire format of protobuf, and the rules of
github.com/google/perfetto's protos/perfetto/trace for sequences, interned texts, clocks and tracks.

Trace(path) has `tracks` by uuid, `slices` and `counts`. Whatever a reader would drop or mend is Invalid.
"""
import collections
import json
import os
import struct
import subprocess

from wire import Invalid, fields, signed

MONOTONIC, REALTIME, OF_SEQUENCE = 3, 1, 64
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
DEEPEST = 500


def _message(data, shape):
    """{name: value}; `shape` is {number: (name, what)}: int, str, bytes, a shape, or a list of one of them."""
    message = {}
    for number, value in fields(data):
        if number not in shape:
            raise Invalid('field %d is not known' % number)
        name, what = shape[number]
        repeated = isinstance(what, list)
        what = what[0] if repeated else what
        if isinstance(what, dict):
            value = _message(value, what)
        elif what is str:
            value = value.decode('utf-8')
        elif what is float:
            value, = struct.unpack('<d', value)
        elif what is not bytes and not isinstance(value, int):
            raise Invalid('%s is no number' % name)
        elif what is complex:
            value = signed(value)
        if repeated:
            message.setdefault(name, []).append(value)
        elif name in message:
            raise Invalid('%s is there twice' % name)
        else:
            message[name] = value
    return message


CLOCK = {1: ('id', int), 2: ('time', int), 3: ('incremental', int)}
TEXT = {1: ('iid', int), 2: ('text', str)}
ANNOTATION = {1: ('name', int), 3: ('uint', int), 4: ('int', complex), 5: ('double', float), 7: ('pointer', int),
              17: ('text', int)}
EVENT = {4: ('annotations', [ANNOTATION]), 9: ('type', int), 10: ('name', int), 11: ('track', int),
         30: ('count', complex), 36: ('flows', [int]), 42: ('last_flows', [int]), 44: ('real', float)}
DESCRIPTOR = {1: ('uuid', int), 2: ('name', str), 3: ('process', {1: ('pid', int), 6: ('name', str)}),
              4: ('thread', {1: ('pid', int), 2: ('tid', int), 5: ('name', str)}), 5: ('parent', int),
              8: ('counter', {3: ('unit', int), 6: ('unit_name', str)}), 11: ('ordering', int)}
PACKET = {6: ('clocks', {1: ('clocks', [CLOCK]), 2: ('primary', int)}), 8: ('time', int), 10: ('sequence', int),
          11: ('event', EVENT), 12: ('interned', {2: ('names', [TEXT]), 3: ('annotations', [TEXT]),
                                                  29: ('texts', [TEXT])}),
          13: ('flags', int), 58: ('clock', int),
          59: ('defaults', {11: ('event', {11: ('track', int)}), 58: ('clock', int)}), 60: ('track', DESCRIPTOR)}

Slice = collections.namedtuple('Slice', 'track name start end depth args flows last_flows')


class Sequence:
    def __init__(self):
        self.clock = self.track = self.time = None
        self.texts = {'names': {}, 'annotations': {}, 'texts': {}}


class Trace:
    def __init__(self, path):
        self.tracks, self.counts, self.slices = {}, collections.defaultdict(list), []
        self.sequences, self.primary, self.realtime = {}, None, None
        self.open = collections.defaultdict(list)
        with open(path, 'rb') as stream:
            data = stream.read()
        self.bytes = len(data)
        for number, packet in fields(data):
            if number != 1:
                raise Invalid('field %d of a trace' % number)
            self._take(_message(packet, PACKET))
        if any(self.open.values()):
            raise Invalid('slices do not end')

    def _take(self, packet):
        if not packet.get('sequence'):
            raise Invalid('a packet of no sequence')
        sequence = self.sequences.setdefault(packet['sequence'], Sequence())
        if 'clocks' in packet:
            self._take_clocks(sequence, packet['clocks'])
        if 'defaults' in packet:
            if not packet.get('flags', 0) & 1:
                raise Invalid('what is interned does not begin anew')
            sequence.clock = packet['defaults']['clock']
            sequence.track = packet['defaults'].get('event', {}).get('track')
        if 'track' in packet:
            self._take_track(packet['track'])
        for kind, texts in packet.get('interned', {}).items():
            for text in texts:
                if not text['iid'] or text['iid'] in sequence.texts[kind]:
                    raise Invalid('text %d is there twice' % text['iid'])
                sequence.texts[kind][text['iid']] = text.get('text', '')
        if 'event' in packet:
            self._take_event(sequence, packet['event'], self._time(sequence, packet))

    def _take_clocks(self, sequence, snapshot):
        clocks = {clock['id']: clock for clock in snapshot['clocks']}
        if 'primary' in snapshot:
            self.primary = snapshot['primary']
        if REALTIME in clocks:
            self.realtime = clocks[REALTIME]['time'] - clocks[MONOTONIC]['time']
        if OF_SEQUENCE in clocks:
            if clocks[OF_SEQUENCE]['time'] != clocks[MONOTONIC]['time'] or not clocks[OF_SEQUENCE]['incremental']:
                raise Invalid('not the clock it should be')
            sequence.time = clocks[OF_SEQUENCE]['time']

    def _take_track(self, track):
        if not track.get('uuid') or track['uuid'] in self.tracks:
            raise Invalid('track %s' % track)
        if track.get('parent') and track['parent'] not in self.tracks:
            raise Invalid('a track has a parent that was not told of')
        self.tracks[track['uuid']] = track

    def _time(self, sequence, packet):
        clock = packet.get('clock', sequence.clock)
        if clock == MONOTONIC:
            return packet['time']
        if clock != OF_SEQUENCE or sequence.time is None:
            raise Invalid('a time of clock %s' % clock)
        sequence.time += packet['time']
        return sequence.time

    def _take_event(self, sequence, event, time):
        uuid = event.get('track', sequence.track)
        if uuid not in self.tracks:
            raise Invalid('an event of no track')
        if ('counter' in self.tracks[uuid]) != (event['type'] == COUNTER):
            raise Invalid('a counter has slices, or what is none counts')
        if event['type'] == COUNTER:
            self.counts[uuid].append((time, event['count'] if 'count' in event else event['real']))
            return
        slices = self.open[uuid]
        if event['type'] == END:
            if not slices or time < slices[-1][2]:
                raise Invalid('an end without a begin')
            track, name, start, *rest = slices.pop()
            self.slices.append(Slice(track, name, start, time, *rest))
            return
        if slices and time < slices[-1][2]:
            raise Invalid('time goes back')
        args = {}
        for annotation in event.get('annotations', []):
            (value,) = [value for key, value in annotation.items() if key != 'name']
            if 'text' in annotation:
                value = sequence.texts['texts'][value]
            args[sequence.texts['annotations'][annotation['name']]] = value
        begun = (uuid, sequence.texts['names'][event['name']], time, len(slices), args, event.get('flows', []),
                 event.get('last_flows', []))
        if len(slices) > DEEPEST:
            raise Invalid('too deep')
        if event['type'] == INSTANT:
            self.slices.append(Slice(*begun[:3], time, *begun[3:]))
        else:
            slices.append(begun)

    def name(self, uuid):
        track = self.tracks[uuid]
        return track.get('name') or track.get('thread', track.get('process', {})).get('name', '')

    def path(self, uuid):
        """Names from the outermost track to this one."""
        track = self.tracks[uuid]
        return (self.path(track['parent']) if track.get('parent') else ()) + (self.name(uuid),)

    def of_threads(self):
        return [piece for piece in self.slices if 'thread' in self._place(piece.track)]

    def _place(self, uuid):
        """The track that a further lane of it stands for."""
        track = self.tracks[uuid]
        return self.tracks[track['parent']] if track.get('name') == 'overlapping' else track

    def thread(self, piece):
        return self._place(piece.track)['thread']

    def of_streams(self):
        return [piece for piece in self.slices if self.name(piece.track).startswith('stream ')]

    def flows(self):
        """Pairs of slices that a flow leads from and to, as readers link them: in the order of time. Its last one ends it, and what
        has its number later is another."""
        open_flows = {}
        for piece in sorted(self.slices, key=lambda piece: piece.start):
            for flow in piece.flows:
                if flow in open_flows:
                    yield open_flows[flow], piece
                open_flows[flow] = piece
            for flow in piece.last_flows:
                if flow not in open_flows:
                    raise Invalid('a flow ends that did not begin')
                yield open_flows.pop(flow), piece


# Where Perfetto's own trace processor lies: engine_bundle.node.js, engine.mjs and trace_processor.wasm.
PROCESSOR = os.environ.get('TS_TRACE_PROCESSOR', '')
MISSING = 'Perfetto\'s trace processor is not here: name its folder in $TS_TRACE_PROCESSOR'


def query(path, *statements):
    """[summary, rows, ...] of the real trace processor."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'trace-processor.mjs')
    run = subprocess.run(['node', script, PROCESSOR, path, *statements], stdout=subprocess.PIPE, check=True,
                         stderr=subprocess.DEVNULL, timeout=280)
    lines = [json.loads(line) for line in run.stdout.decode().splitlines()]
    return [lines[0]] + [line['rows'] for line in lines[1:]]
