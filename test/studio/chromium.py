# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium by its DevTools protocol, over two pipes: messages are JSON and end with a zero byte. Needs Python's standard
library and Debian's package `chromium` only. A page keeps a log of its requests, of its console, and of violations of its policy.

    with chromium.Browser() as browser:
        page = browser.page(1280, 800)
        page.goto(address)
        page.click('#next')
        assert page.text('#state') == 'ready'
"""
import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome')
# A bound for what hangs. On a busy machine a page takes seconds to load.
LIMIT_S = 120
SKIPPED = 77  # for meson
KEYS = {'Tab': 9, 'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40, 'Home': 36, 'End': 35,
        'PageUp': 33, 'PageDown': 34, 'Delete': 46, 'Backspace': 8, ' ': 32}
MODIFIERS = {'Alt': 1, 'Control': 2, 'Meta': 4, 'Shift': 8}
# Nothing of the browser's own may reach the network: the tests count requests.
OPTIONS = ('--headless=new', '--no-first-run', '--no-default-browser-check', '--disable-background-networking', '--disable-sync',
           '--disable-component-update', '--disable-default-apps', '--disable-extensions', '--disable-domain-reliability',
           '--disable-client-side-phishing-detection', '--disable-gpu', '--metrics-recording-only', '--mute-audio', '--hide-scrollbars',
           '--force-color-profile=srgb', '--disable-dev-shm-usage', '--disable-features=Translate,OptimizationHints,MediaRouter',
           '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost')


def program():
    """The browser's path, or None."""
    return os.environ.get('TS_CHROMIUM') or next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Failed(Exception):
    """The browser reported an error, or did not answer in time."""


class Browser:
    """A browser with a profile of its own, which is deleted at the end."""

    def __init__(self, *options):
        path = program()
        if not path:
            raise Failed('no Chromium here: install the package chromium')
        self._folder = tempfile.mkdtemp(prefix='ts-chromium-')
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        root = ('--no-sandbox',) if os.geteuid() == 0 else ()
        child = ('import os,sys; r, w = int(sys.argv[1]), int(sys.argv[2]); os.dup2(r, 100); os.dup2(w, 101); os.dup2(100, 3); '
                 'os.dup2(101, 4); os.closerange(5, 256); os.execv(sys.argv[3], sys.argv[3:])')
        self._process = subprocess.Popen(
            [shutil.which('python3') or 'python3', '-c', child, str(to_browser), str(from_browser), path, *OPTIONS, *root, *options,
             '--user-data-dir=' + self._folder, '--remote-debugging-pipe', 'about:blank'],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self._folder})
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._lock = 0, threading.Lock()
        self._answers, self._pages = {}, {}
        self._reader = threading.Thread(target=self._receive, daemon=True)
        self._reader.start()
        self.version = self.ask('Browser.getVersion')['product']

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._process.poll() is None:
            try:
                self.ask('Browser.close', limit_s=5)
                self._process.wait(10)
            except (Failed, subprocess.TimeoutExpired):
                self._process.kill()
        self._process.wait()
        os.close(self._write)
        self._reader.join(5)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _receive(self):
        rest = b''
        while True:
            data = os.read(self._read, 1 << 20)
            if not data:
                break
            *messages, rest = (rest + data).split(b'\0')
            for message in map(json.loads, messages):
                if 'id' in message:
                    self._answers.pop(message['id']).put(message)
                elif message.get('sessionId') in self._pages:
                    self._pages[message['sessionId']].notice(message['method'], message['params'])
        for answer in list(self._answers.values()):
            answer.put({'error': {'message': 'the browser ended'}})

    def ask(self, method, session=None, limit_s=LIMIT_S, **parameters):
        """Runs a command of the protocol and returns its result."""
        answer = queue.Queue()
        with self._lock:
            self._number += 1
            number = self._number
            self._answers[number] = answer
            message = {'id': number, 'method': method, 'params': parameters, **({'sessionId': session} if session else {})}
            os.write(self._write, json.dumps(message).encode() + b'\0')
        try:
            got = answer.get(timeout=limit_s)
        except queue.Empty:
            raise Failed('%s: no answer within %d s' % (method, limit_s)) from None
        if 'error' in got:
            raise Failed('%s: %s' % (method, got['error']['message']))
        return got['result']

    def page(self, width=1280, height=800, dark=False):
        context = self.ask('Target.createBrowserContext')['browserContextId']
        target = self.ask('Target.createTarget', url='about:blank', browserContextId=context, width=width, height=height)['targetId']
        session = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        page = Page(self, target, session)
        self._pages[session] = page
        page.start(width, height, dark)
        return page

    def settle(self, limit_s=20):
        """Waits until the browser's own start is over: its processes use a tenth of a processor at most."""
        end, used = time.monotonic() + limit_s, -1000
        while time.monotonic() < end:
            before, used = used, sum(process['cpuTime'] for process in self.ask('SystemInfo.getProcessInfo')['processInfo'])
            if used - before < 0.05:
                return
            time.sleep(0.5)

    def memory(self):
        """Bytes of each process of the browser: (kind, {'VmRSS': ..., 'VmHWM': ..., 'RssAnon': ..., ...}). Kinds are 'browser', 'renderer',
        'GPU', and others. The browser keeps renderers of its own beside that of a page: for the first, empty tab, and for the next one. VmRSS
        counts the browser's program, some 115 MB, in each process, though it is in memory once."""
        found = []
        for process in self.ask('SystemInfo.getProcessInfo')['processInfo']:
            with open('/proc/%d/status' % process['id'], encoding='ascii', errors='replace') as file:
                fields = dict(line.split(':', 1) for line in file)
            found.append((process['type'], {name: int(value.split()[0]) << 10 for name, value in fields.items()
                                            if name.startswith(('Vm', 'Rss'))}))
        return found

    def renderer(self):
        """The most memory that any renderer has had, in bytes, with the program's pages: no page has had more."""
        return max(sizes['VmHWM'] for kind, sizes in self.memory() if kind == 'renderer')


class Page:
    """A tab."""

    def __init__(self, browser, target, session):
        self.browser, self._target, self._session = browser, target, session
        self.requests = []  # addresses, in order
        self.answers = {}  # address: status
        self.console, self.errors = [], []
        self._loaded = threading.Event()
        self._paused = None

    def start(self, width, height, dark):
        for domain in ('Page', 'Runtime', 'Network', 'Log', 'Accessibility'):
            self.ask(domain + '.enable')
        # Long tasks are kept from the start of each document on.
        self.ask('Page.addScriptToEvaluateOnNewDocument', source='''
            window.__long = []; window.__refused = [];
            new PerformanceObserver(list => list.getEntries().forEach(entry => window.__long.push(entry.duration)))
                .observe({type: 'longtask', buffered: true});
            document.addEventListener('securitypolicyviolation',
                event => window.__refused.push(event.violatedDirective + ' ' + event.blockedURI));''')
        self.resize(width, height)
        self.scheme(dark)

    def ask(self, method, limit_s=LIMIT_S, **parameters):
        return self.browser.ask(method, self._session, limit_s, **parameters)

    def notice(self, method, parameters):
        """An event of the browser."""
        if method == 'Network.requestWillBeSent':
            self.requests.append(parameters['request']['url'])
        elif method == 'Network.responseReceived':
            self.answers[parameters['response']['url']] = parameters['response']['status']
        elif method == 'Runtime.consoleAPICalled':
            self.console.append(' '.join(str(item.get('value', item.get('description'))) for item in parameters['args']))
        elif method == 'Runtime.exceptionThrown':
            details = parameters['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description', details['text']))
        elif method == 'Log.entryAdded' and parameters['entry']['level'] == 'error':
            self.errors.append('%s %s' % (parameters['entry']['text'], parameters['entry'].get('url', '')))
        elif method == 'Page.loadEventFired':
            self._loaded.set()

    def close(self):
        self.ask('Page.close')

    # ---- the window

    def resize(self, width, height, scale=1, mobile=False):
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def scheme(self, dark, media=''):
        """Light or dark; `media` 'print': as on paper."""
        self.ask('Emulation.setEmulatedMedia', media=media, features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def goto(self, address):
        self._loaded.clear()
        result = self.ask('Page.navigate', url=address)
        if result.get('errorText'):
            raise Failed('%s: %s' % (address, result['errorText']))
        if not self._loaded.wait(LIMIT_S):
            raise Failed('%s: not loaded within %d s' % (address, LIMIT_S))

    def reload(self):
        self._loaded.clear()
        self.ask('Page.reload')
        if not self._loaded.wait(LIMIT_S):
            raise Failed('not loaded again within %d s' % LIMIT_S)

    def screenshot(self, path=None, whole=False):
        """PNG: bytes, also written to `path`."""
        options = {}
        if whole:
            size = self.ask('Page.getLayoutMetrics')['cssContentSize']
            options = {'captureBeyondViewport': True, 'clip': {'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'], 'scale': 1}}
        data = base64.b64decode(self.ask('Page.captureScreenshot', format='png', **options)['data'])
        if path:
            with open(path, 'wb') as file:
                file.write(data)
        return data

    def pdf(self):
        return base64.b64decode(self.ask('Page.printToPDF', printBackground=False)['data'])

    # ---- reading

    def run(self, script, limit_s=LIMIT_S):
        """The value of an expression of JavaScript; a promise is awaited."""
        got = self.ask('Runtime.evaluate', limit_s, expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in got:
            details = got['exceptionDetails']
            raise Failed(details.get('exception', {}).get('description', details['text']))
        return got['result'].get('value')

    def text(self, selector='body'):
        """The visible text of the first element; None: no such element."""
        return self.run('(e => e && e.innerText)(document.querySelector(%s))' % json.dumps(selector))

    def texts(self, selector):
        return self.run('[...document.querySelectorAll(%s)].map(e => e.innerText)' % json.dumps(selector))

    def attribute(self, selector, name):
        return self.run('(e => e && e.getAttribute(%s))(document.querySelector(%s))' % (json.dumps(name), json.dumps(selector)))

    def box(self, selector):
        """x, y, width, height in the window; None: no such element, or it is not shown."""
        return self.run('''(e => { if (!e) return null; const r = e.getBoundingClientRect();
            return r.width && r.height ? [r.x, r.y, r.width, r.height] : null; })(document.querySelector(%s))''' % json.dumps(selector))

    def wait(self, condition, limit_s=LIMIT_S):
        """Waits until an expression of JavaScript is true, and returns its value; True for an element."""
        end = time.monotonic() + limit_s
        while True:
            value = self.run('(value => value instanceof Node ? true : value)(%s)' % condition)
            if value:
                return value
            if time.monotonic() > end:
                raise Failed('%s: not true within %d s' % (condition, limit_s))
            time.sleep(0.02)

    def wait_text(self, selector, part, limit_s=LIMIT_S):
        return self.wait('(e => e && e.innerText.includes(%s) && e.innerText)(document.querySelector(%s))' % (
            json.dumps(part), json.dumps(selector)), limit_s)

    def accessible(self):
        """The accessibility tree as a screen reader has it: (role, name, value) of each node that is not ignored."""
        return [(node['role']['value'], node.get('name', {}).get('value', ''), node.get('value', {}).get('value'))
                for node in self.ask('Accessibility.getFullAXTree')['nodes'] if not node['ignored']]

    def focused(self):
        """Tag, id, label and text of the focused element."""
        return self.run('''(e => [e.tagName.toLowerCase(), e.id, e.getAttribute('aria-label') || '', (e.innerText || '').slice(0, 80)])(
            document.activeElement)''')

    def long_tasks(self):
        """Milliseconds of each task over 50 ms since the document began."""
        return self.run('window.__long')

    def refused(self):
        """Violations of the page's content security policy."""
        return self.run('window.__refused')

    def heap(self):
        """Bytes of the page's JavaScript."""
        return self.run('performance.memory.usedJSHeapSize')

    def foreign(self, *hosts):
        """Requests that leave the machine: to other hosts than these."""
        own = ('data:', 'blob:', 'about:', 'file:') + tuple('http://%s' % host for host in hosts)
        return [address for address in self.requests if not address.startswith(own)]

    # ---- doing

    def mouse(self, kind, x, y, **more):
        self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click_at(self, x, y, count=1):
        self.mouse('mouseMoved', x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.mouse(kind, x, y, button='left', clickCount=count)

    def center(self, selector):
        self.run('(e => e && e.scrollIntoView({block: "nearest"}))(document.querySelector(%s))' % json.dumps(selector))
        box = self.box(selector)
        if not box:
            raise Failed('%s: not on the page' % selector)
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def click(self, selector):
        self.click_at(*self.center(selector))

    def drag(self, x, y, to_x, to_y, steps=8, **more):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, button='left', buttons=1, clickCount=1, **more)
        for i in range(1, steps + 1):
            self.mouse('mouseMoved', x + (to_x - x) * i / steps, y + (to_y - y) * i / steps, button='left', buttons=1, **more)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1, **more)

    def wheel(self, x, y, down, across=0, *modifiers):
        self.mouse('mouseWheel', x, y, deltaX=across, deltaY=down, modifiers=sum(MODIFIERS[name] for name in modifiers))

    def key(self, key, *modifiers):
        """Presses and releases a key: 'a', 'Tab', 'Enter', ..."""
        more = {'key': key, 'modifiers': sum(MODIFIERS[name] for name in modifiers),
                'windowsVirtualKeyCode': KEYS.get(key) or ord(key.upper()[0]), 'code': key if key in KEYS and key != ' ' else 'Key' + key.upper()}
        text = {'Enter': '\r'}.get(key, key if len(key) == 1 and 'Control' not in modifiers else None)
        self.ask('Input.dispatchKeyEvent', type='keyDown', **more, **({'text': text} if text else {}))
        self.ask('Input.dispatchKeyEvent', type='keyUp', **more)

    def type(self, text):
        self.ask('Input.insertText', text=text)
