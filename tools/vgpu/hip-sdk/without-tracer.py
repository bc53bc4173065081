#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version script of a release of libamdhip64 (calls.py nodes), with ts_vgpu_trace_hip in the place of the tracer.

usage: without-tracer.py PYTHON CALLS_PY HIP_CALLS RELEASE
"""
import subprocess
import sys

TRACER = '\thipRegisterTracerCallback;\n'


def main():
    python, script, table, release = sys.argv[1:]
    text = subprocess.run([python, script, 'nodes', table, release], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
    if TRACER not in text:
        sys.exit('%s: release %s has no tracer' % (table, release))
    sys.stdout.write(text.replace(TRACER, '') + 'tracesmith {\nglobal:\n\tts_vgpu_trace_hip;\n};\n')


if __name__ == '__main__':
    main()
