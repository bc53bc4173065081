#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of test/apps over HIP: they compute on the virtual GPU, and do the same work as their form over CUDA's driver."""
import harness
from harness import truth_module

PROGRAMS = {
    # name: (arguments, TRACESMITH_VGPU)
    'saxpy': ([], ''),
    'pipeline': (['5'], ''),
    'threads': (harness.THREADS_ARGUMENTS, ''),
    'devices': ([], 'mi300:2'),
    'graph': (['7'], ''),
    'network': (['2'], ''),
    'tensor': ([], ''),
    'exits': ([], ''),
    'stress': (['200'], ''),
    'workers': (['10'], ''),
    'ladder': ([], ''),
}


class HipApps(harness.Case):
    def work(self, name, form, arguments, vgpu):
        """What a form prints and what it counts."""
        path = self.path('truth-' + form)
        result = harness.run([harness.app(name, form)] + arguments, harness.alone_environment(vgpu, TS_TRUTH=path),
                             cwd=self.folder)
        self.assertEqual((result.status, result.err), (0, ''), result)
        truth = truth_module.read(path)
        return (result.out, truth.launches_by_kernel(), list(truth.copies), list(truth.copy_bytes), truth.sets, truth.set_bytes,
                list(truth.allocs), list(truth.alloc_bytes), list(truth.frees))

    def test_no_device(self):
        result = harness.run([harness.app('saxpy', 'hip')], harness.alone_environment('no-such-shape'), cwd=self.folder)
        self.assertEqual(result.status, 77, result)
        self.assertIn('TRACESMITH_VGPU', result.err)

    def test_fork(self):
        """A child has no GPU, and its parent goes on."""
        result = harness.run([harness.app('forks', 'hip')], harness.alone_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)


def add(name, arguments, vgpu):
    def test(self):
        self.assertEqual(self.work(name, 'hip', arguments, vgpu), self.work(name, 'driver', arguments, vgpu))
    setattr(HipApps, 'test_' + name, test)


for app_name, (app_arguments, app_vgpu) in PROGRAMS.items():
    add(app_name, app_arguments, app_vgpu)

if __name__ == '__main__':
    harness.main()
