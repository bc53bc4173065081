# SPDX-License-Identifier: Apache-2.0
"""The build backend of the package (PEP 517, PEP 660): it needs nothing but Python, so `pip install` works without a network.

The wheel holds the package's Python files. libtracesmith and tsctl come from the installed TraceSmith.
"""
import base64
import hashlib
import io
import os
import re
import runpy
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = 'tracesmith'
TAG = 'py3-none-any'
VERSION = os.path.join(HERE, PACKAGE, '_version.py')


def project():
    """The facts of pyproject.toml, which has plain strings only, and the version (_version.py)."""
    with open(os.path.join(HERE, 'pyproject.toml'), encoding='utf-8') as file:
        facts = dict(re.findall(r'^([a-z-]+) = "(.*)"$', file.read(), re.MULTILINE))
    version = runpy.run_path(VERSION)['__version__']
    if version == '0+unknown':
        raise SystemExit('%s: the version is in meson.build of the source tree; build the package there' % HERE)
    return {**facts, 'version': version}


def contents():
    """{name in the wheel: bytes} of the package's files."""
    found = {name: read(path) for name, path in files()}
    found[PACKAGE + '/_version.py'] = b"# SPDX-License-Identifier: Apache-2.0\n__version__ = '%s'\n" % project()['version'].encode()
    return found


def metadata():
    facts = project()
    with open(os.path.join(HERE, 'README.md'), encoding='utf-8') as file:
        readme = file.read()
    return ('Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\n'
            'Description-Content-Type: text/markdown\n\n%s'
            % (PACKAGE, facts['version'], facts['description'], facts['requires-python'], readme))


def files():
    """The package's files: (name in the wheel, path)."""
    folder = os.path.join(HERE, PACKAGE)
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py') or name == 'py.typed':
            yield PACKAGE + '/' + name, os.path.join(folder, name)


def write_wheel(folder, contents):
    """Writes {name: bytes} and what makes it a wheel; returns the wheel's name."""
    base = '%s-%s' % (PACKAGE, project()['version'])
    info = base + '.dist-info/'
    contents[info + 'METADATA'] = metadata().encode()
    contents[info + 'WHEEL'] = ('Wheel-Version: 1.0\nGenerator: tracesmith\nRoot-Is-Purelib: true\nTag: %s\n' % TAG).encode()
    contents[info + 'entry_points.txt'] = b'[console_scripts]\ntracesmith = tracesmith.__main__:main\n'
    record = ''
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += '%s,sha256=%s,%d\n' % (name, digest, len(data))
    contents[info + 'RECORD'] = (record + info + 'RECORD,,\n').encode()
    wheel = '%s-%s.whl' % (base, TAG)
    with zipfile.ZipFile(os.path.join(folder, wheel), 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            # One date, so that the same sources give the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return wheel


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, contents())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {PACKAGE + '.pth': (HERE + '\n').encode()})


def build_sdist(sdist_directory, config_settings=None):
    base = '%s-%s' % (PACKAGE, project()['version'])
    name = base + '.tar.gz'
    with tarfile.open(os.path.join(sdist_directory, name), 'w:gz') as archive:
        for own in ('pyproject.toml', 'README.md', 'build_backend.py'):
            archive.add(os.path.join(HERE, own), base + '/' + own)
        for inside, data in contents().items():
            entry = tarfile.TarInfo(base + '/' + inside)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
