# SPDX-License-Identifier: Apache-2.0
"""pprof's profiles, read and checked without any of its own code: the wire format of protobuf, and every rule that
github.com/google/pprof holds a profile to (profile.CheckValid and the comments of proto/profile.proto).
"""
import gzip

from wire import Invalid, fields, signed, varint


def _packed(value):
    """A repeated number: packed, or one of it."""
    if isinstance(value, int):
        return [value]
    values, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        values.append(number)
    return values


# name of each field by number, and what it is: a number, a signed one, a list of them, a message, a text's index.
MESSAGES = {
    'Profile': {1: ('sample_type', 'ValueType'), 2: ('sample', 'Sample'), 3: ('mapping', 'Mapping'),
                4: ('location', 'Location'), 5: ('function', 'Function'), 6: ('string_table', 'string'),
                7: ('drop_frames', 'int'), 8: ('keep_frames', 'int'), 9: ('time_nanos', 'int'),
                10: ('duration_nanos', 'int'), 11: ('period_type', 'ValueType'), 12: ('period', 'int'),
                13: ('comment', 'ints'), 14: ('default_sample_type', 'int')},
    'ValueType': {1: ('type', 'int'), 2: ('unit', 'int')},
    'Sample': {1: ('location_id', 'uints'), 2: ('value', 'ints'), 3: ('label', 'Label')},
    'Label': {1: ('key', 'int'), 2: ('str', 'int'), 3: ('num', 'int'), 4: ('num_unit', 'int')},
    'Mapping': {1: ('id', 'uint'), 2: ('memory_start', 'uint'), 3: ('memory_limit', 'uint'),
                4: ('file_offset', 'uint'), 5: ('filename', 'int'), 6: ('build_id', 'int'),
                7: ('has_functions', 'uint'), 8: ('has_filenames', 'uint'),
                9: ('has_line_numbers', 'uint'), 10: ('has_inline_frames', 'uint')},
    'Location': {1: ('id', 'uint'), 2: ('mapping_id', 'uint'), 3: ('address', 'uint'),
                 4: ('line', 'Line'), 5: ('is_folded', 'uint')},
    'Line': {1: ('function_id', 'uint'), 2: ('line', 'int')},
    'Function': {1: ('id', 'uint'), 2: ('name', 'int'), 3: ('system_name', 'int'), 4: ('filename', 'int'),
                 5: ('start_line', 'int')},
}
ONCE = ('period_type',)


def _decode(kind, data):
    message = {}
    for name, what in MESSAGES[kind].values():
        message[name] = 0 if what in ('int', 'uint') else None if name in ONCE else []
    for number, value in fields(data):
        if number not in MESSAGES[kind]:
            raise Invalid('%s has no field %d' % (kind, number))
        name, what = MESSAGES[kind][number]
        if what in ('int', 'uint'):
            # What is said twice would make a reader take two profiles for one.
            if message[name]:
                raise Invalid('%s.%s is there twice' % (kind, name))
            message[name] = signed(value) if what == 'int' else value
        elif what in ('ints', 'uints'):
            message[name] += [signed(v) if what == 'ints' else v for v in _packed(value)]
        elif what == 'string':
            message[name].append(value.decode('utf-8', errors='strict'))
        elif name in ONCE:
            message[name] = _decode(what, value)
        else:
            message[name].append(_decode(what, value))
    return message


class Profile:
    """A profile that was found valid. Samples are (frames, values, labels), the leaf first."""

    def __init__(self, path):
        with open(path, 'rb') as stream:
            data = stream.read()
        if data[:2] != b'\x1f\x8b':
            raise Invalid('not compressed by gzip')
        self.raw = _decode('Profile', gzip.decompress(data))
        self.texts = self.raw['string_table']
        self._check_texts()
        self.mappings = self._by_id('mapping')
        self.functions = self._by_id('function')
        self.locations = self._by_id('location')
        self._check_references()
        self.types = [(self.text(t['type']), self.text(t['unit'])) for t in self.raw['sample_type']]
        self.default = self.text(self.raw['default_sample_type'])
        self.comments = [self.text(comment) for comment in self.raw['comment']]
        if self.default and self.default not in [name for name, _ in self.types]:
            raise Invalid('default_sample_type %s is none of the types' % self.default)
        self.samples = [self._sample(sample) for sample in self.raw['sample']]

    def text(self, index):
        if not 0 <= index < len(self.texts):
            raise Invalid('there is no text %d' % index)
        return self.texts[index]

    def _check_texts(self):
        if not self.texts or self.texts[0]:
            raise Invalid('string_table[0] is not ""')
        if len(set(self.texts)) != len(self.texts):
            raise Invalid('a text is there twice')

    def _by_id(self, kind):
        found = {}
        for message in self.raw[kind]:
            if not message['id'] or message['id'] in found:
                raise Invalid('%s %d: 0, or there twice' % (kind, message['id']))
            found[message['id']] = message
        return found

    def _check_references(self):
        for function in self.functions.values():
            for name in ('name', 'system_name', 'filename'):
                self.text(function[name])
            if not self.text(function['name']):
                raise Invalid('a function without a name')
        for mapping in self.mappings.values():
            self.text(mapping['filename'])
            self.text(mapping['build_id'])
            if mapping['memory_start'] >= mapping['memory_limit']:
                raise Invalid('an empty mapping')
        used = set()
        for location in self.locations.values():
            if location['mapping_id']:
                if location['mapping_id'] not in self.mappings:
                    raise Invalid('there is no mapping %d' % location['mapping_id'])
                mapping = self.mappings[location['mapping_id']]
                if not mapping['memory_start'] <= location['address'] < mapping['memory_limit']:
                    raise Invalid('location %d lies outside of its mapping' % location['id'])
            for line in location['line']:
                if line['function_id'] not in self.functions:
                    raise Invalid('there is no function %d' % line['function_id'])
                used.add(line['function_id'])
            if not location['line'] and not location['address']:
                raise Invalid('location %d is nowhere' % location['id'])
        if used != set(self.functions):
            raise Invalid('functions that nothing refers to')

    def _sample(self, sample):
        if len(sample['value']) != len(self.types):
            raise Invalid('%d values of %d types' % (len(sample['value']), len(self.types)))
        if min(sample['value']) < 0:
            raise Invalid('a value below 0')
        frames = []
        for location in sample['location_id']:
            if location not in self.locations:
                raise Invalid('there is no location %d' % location)
            frames += self._frames(self.locations[location])
        if not frames:
            raise Invalid('a sample from nowhere')
        labels = {}
        for label in sample['label']:
            key = self.text(label['key'])
            # pprof drops a label of neither, and takes a 0 for a number where it has a unit.
            if not key or key in labels or bool(label['str']) == bool(label['num'] or label['num_unit']):
                raise Invalid('label %s: no key, there twice, or not one of text and number' % key)
            self.text(label['num_unit'])
            labels[key] = self.text(label['str']) if label['str'] else label['num']
        return frames, tuple(sample['value']), labels

    def _frames(self, location):
        """(function, file, line), the innermost first; a bare address where there is no name."""
        if not location['line']:
            return [('0x%x' % location['address'], '', 0)]
        frames = []
        for line in location['line']:
            function = self.functions[line['function_id']]
            frames.append((self.text(function['name']), self.text(function['filename']), line['line']))
        return frames

    def total(self, name):
        index = [kind for kind, _ in self.types].index(name)
        return sum(values[index] for _, values, _ in self.samples)
