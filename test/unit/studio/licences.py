#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of licences in Studio's page: licences.py of tools/studio/page, with bundles of made modules."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'studio', 'page', 'licences.py')


class Licences(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.inputs = {'../src/main.ts': {'bytesInOutput': 100}}

    def add(self, name, text, n_bytes=5):
        folder = os.path.join(self.folder.name, 'node_modules', name)
        os.makedirs(folder + '/src')
        with open(folder + '/package.json', 'w', encoding='utf-8') as file:
            json.dump({'name': name, 'version': '1.2.3', 'license': 'ISC', 'author': {'name': 'A. Uthor'}}, file)
        if text:
            with open(folder + '/LICENSE', 'w', encoding='utf-8') as file:
                file.write(text)
        self.inputs['node_modules/%s/src/index.js' % name] = {'bytesInOutput': n_bytes}

    def run_script(self):
        with open(self.folder.name + '/bundle.json', 'w', encoding='utf-8') as file:
            json.dump({'outputs': {'studio.js': {'inputs': self.inputs}}}, file)
        return subprocess.run([sys.executable, SCRIPT, 'bundle.json', 'licences.txt'], cwd=self.folder.name, stderr=subprocess.PIPE,
                              encoding='utf-8', check=False)

    def text(self):
        self.assertEqual(self.run_script().returncode, 0)
        with open(self.folder.name + '/licences.txt', encoding='utf-8') as file:
            return file.read()

    def test_modules_share_a_text(self):
        self.add('b', 'Copyright 2 B\n\nmay use\n')
        self.add('c', 'Copyright 2 B\n\nmay use\n')
        self.add('a', 'Copyright 1 A\n\nmay use\n')
        self.add('unused', '', 0)
        self.assertTrue(self.text().endswith('It contains these libraries:\n\na 1.2.3, ISC, by A. Uthor\n\nCopyright 1 A\n\nmay use\n\n'
                                             'b 1.2.3, ISC, by A. Uthor\nc 1.2.3, ISC, by A. Uthor\n\nCopyright 2 B\n\nmay use\n'))

    def test_without_a_text(self):
        self.add('nobody-has-this', '')
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^no licence text of nobody-has-this: expected .*/nobody-has-this/LICENSE, or Debian's package node-")


if __name__ == '__main__':
    unittest.main()
