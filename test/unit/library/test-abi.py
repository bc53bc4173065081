#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interface of libtracesmith is that of the last release, and the comparison sees changes.

test-abi.py FOLDER BUILD        FOLDER has abi.py
"""
import contextlib
import copy
import io
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

FOLDER, BUILD = sys.argv[1:3]
sys.path.insert(0, FOLDER)
import abi  # noqa: E402


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.path = abi.interface(BUILD, cls.folder)
        cls.old = os.path.join(cls.folder, 'old.xz')
        abi.write(cls.path, cls.old)

    def setUp(self):
        self.root = tree.parse(self.path).getroot()

    def compare(self):
        """Status and text of a comparison of self.root, as if the last release was without its changes."""
        changed = os.path.join(self.folder, 'changed.abi')
        tree.ElementTree(self.root).write(changed)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = abi.compare(changed, self.folder, self.old)
        return status, text.getvalue()

    def types(self, name):
        found = [node for node in self.root.iter('class-decl') if node.get('name') == name and node.get('size-in-bits')]
        self.assertTrue(found, name)
        return found

    def append_member(self, name):
        for node in self.types(name):
            member = copy.deepcopy(node.findall('data-member')[-1])
            member.set('layout-offset-in-bits', node.get('size-in-bits'))
            member.find('var-decl').set('name', 'added')
            node.set('size-in-bits', str(int(node.get('size-in-bits')) + 64))
            node.append(member)

    def test_last_release(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = abi.compare(self.path, self.folder)
        self.assertEqual(status, 0, text.getvalue())

    def test_no_change(self):
        self.assertEqual(self.compare(), (0, ''))

    def test_what_is_compared(self):
        symbols = {node.get('name') for node in self.root.iter('elf-symbol')}
        self.assertEqual(symbols, set(abi.public_names()))
        self.types('ts_row_kernel')

    def test_function_removed(self):
        for node in list(self.root.iter('elf-function-symbols')):
            for symbol in node.findall("elf-symbol[@name='ts_sbt_reader_open']"):
                node.remove(symbol)
        for unit in self.root.iter('abi-instr'):
            for function in unit.findall("function-decl[@name='ts_sbt_reader_open']"):
                unit.remove(function)
        status, text = self.compare()
        self.assertEqual(status, 1)
        self.assertIn('ts_sbt_reader_open', text)
        self.assertIn(abi.RENEW, text)

    def test_parameter_added(self):
        for function in self.root.iter('function-decl'):
            if function.get('name') == 'ts_sbt_reader_open':
                function.insert(0, copy.deepcopy(function.findall('parameter')[0]))
        status, text = self.compare()
        self.assertEqual(status, 1)
        self.assertIn('ts_sbt_reader_open', text)

    def test_row_grows(self):
        self.append_member('ts_row_kernel')
        status, text = self.compare()
        self.assertEqual(status, 1)
        self.assertIn('ts_row_kernel', text)

    def test_question_grows(self):
        """A program that was built before passes a message without the last member."""
        self.append_member('Ts__Rpc__Query')
        self.assertEqual(self.compare()[0], 1)

    def test_answer_grows(self):
        self.append_member('Ts__Rpc__StateOperation')
        self.assertEqual(self.compare(), (0, ''))

    def test_another_answer(self):
        """A oneof is a union of pointers, so it may have more of them."""
        found = [node for node in self.root.iter('union-decl') if 'error' in (name for _, name in abi.layout(node))]
        self.assertTrue(found)
        for node in found:
            member = copy.deepcopy(node.findall('data-member')[-1])
            member.find('var-decl').set('name', 'added')
            node.append(member)
        self.assertEqual(self.compare(), (0, ''))

    def test_members_move(self):
        for node in self.types('Ts__Rpc__StateOperation'):
            # Behind `base`, a member of its own before all others.
            for member in node.findall('data-member')[1:]:
                member.set('layout-offset-in-bits', str(int(member.get('layout-offset-in-bits')) + 64))
            node.set('size-in-bits', str(int(node.get('size-in-bits')) + 64))
        self.assertEqual(self.compare()[0], 1)


if __name__ == '__main__':
    reason = abi.why_not(BUILD)
    if reason:
        print('skipped: ' + reason)
        sys.exit(abi.SKIPPED)
    unittest.main(argv=sys.argv[:1])
