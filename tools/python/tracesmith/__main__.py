# SPDX-License-Identifier: Apache-2.0
"""`tracesmith ...` and `python -m tracesmith ...` are `tsctl ...`."""
import os
import sys

from ._errors import NotInstalled
from ._library import tsctl


def main() -> int:
    try:
        path = tsctl()
    except NotInstalled as why:
        print('tracesmith: %s' % why, file=sys.stderr)
        return 2
    os.execv(path, [path] + sys.argv[1:])
    return 2


if __name__ == '__main__':
    sys.exit(main())
