#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browse.py TSCTL TRACE: asks the installed Studio for a trace as a browser does, and prints the number of its lanes.

The page comes without a token. An answer about the trace needs the token, and has the duration that `tsctl info` prints. The tests of packages
run this file where the packages are installed; it needs nothing but Python.
"""
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request


def fetch(address, token=None):
    headers = {'Authorization': 'Bearer ' + token} if token else {}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        return answer.read()


def main():
    tsctl, trace = sys.argv[1:]
    wanted = json.loads(subprocess.run([tsctl, 'info', '--json', trace], stdout=subprocess.PIPE, check=True).stdout)
    server = subprocess.Popen([tsctl, 'studio', '--no-browser', trace], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding='utf-8')
    try:
        page, token = server.stdout.readline().strip().split('#token=')
        assert b'<html' in fetch(page) and fetch(page + 'studio.js'), 'no page'
        try:
            raise SystemExit('an answer without a token: %r' % fetch(page + 'api/trace')[:100])
        except urllib.error.HTTPError as error:
            assert error.code == 401, error
        found = json.loads(fetch(page + 'api/trace', token))
        assert found['duration_ns'] == wanted['duration_ns'] and found['lanes'], found
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(60)
    assert status == 0, status
    print(len(found['lanes']))
    return 0


if __name__ == '__main__':
    sys.exit(main())
