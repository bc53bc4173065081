# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: programs in an interpreter of their own, as its users' are."""
import os
import sys

import harness

PACKAGE = os.path.join(harness.SOURCE, 'tools', 'python')


class Case(harness.Case):
    def environment(self, **changes):
        build = harness.BUILD
        return harness.record_environment(
            PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE='1', PATH=os.environ['PATH'] + ':' + os.path.join(build, 'daemon'),
            TRACESMITH_LIBRARY=os.path.join(build, 'tools', 'library', 'libtracesmith.so.0'), TRACESMITH_TSCTL=harness.TSCTL,
            TRACESMITH_INJECT=harness.SHIM, **changes)

    def python(self, program, *arguments, python=sys.executable, status=0, **changes):
        result = harness.run([python, '-c', program, *arguments], self.environment(**changes), cwd=self.folder)
        self.assertEqual(result.status, status, result)
        return result

    def trace(self):
        result, path = self.record([harness.app('pipeline', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        return path
