# SPDX-License-Identifier: Apache-2.0
"""steady.py FILE: launches one kernel every 5 ms until FILE exists, then prints the number of launches.

test-systemd.py records it while the service restarts. It needs test/apps/driver.py in the folder /apps.
"""
import os
import sys
import time

sys.path.insert(0, '/apps')
from driver import call, made  # noqa: E402

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry steady()
{
	ret;
}
"""

call('cuInit', 0)
context = made('cuCtxCreate_v2', 0, 0)
steady = made('cuModuleGetFunction', made('cuModuleLoadData', PTX), b'steady')
launches = 0
while not os.path.exists(sys.argv[1]):
    call('cuLaunchKernel', steady, 1, 1, 1, 1, 1, 1, 0, None, None, None)
    call('cuCtxSynchronize')
    launches += 1
    time.sleep(0.005)
print(launches)
