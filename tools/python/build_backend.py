# SPDX-License-Identifier: Apache-2.0
"""The build backend of the package (PEP 517, PEP 660): it needs nothing but Python, so `pip install` works without a network.

A wheel of a platform has libtracesmith, tsctl, the preload, the daemon and the virtual GPU in it, from a tree that packaging/tarball.sh made:
the setting `tree` (pip's -C or --config-settings), $TRACESMITH_TREE, or build/tarball of the source tree, if that one was made from the
present sources; otherwise the build fails. Without such a tree, or with the
tree "none", the wheel holds the package's Python files only, and uses the installed TraceSmith.
"""
import base64
import gzip
import hashlib
import io
import os
import platform
import re
import runpy
import tarfile
import zipfile

import platform_tag

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PACKAGE = 'tracesmith'
PURE = 'py3-none-any'
INSIDE = PACKAGE + '/_tree/'  # where the wheel has the tree; _library.py finds it there
# The parts of the tree that the package uses. A wheel has no links, so a library has its soname only.
PARTS = re.compile(r'(bin|libexec)/(tsctl|tracesmithd|tracesmith/.*)|'
                   r'lib(64|/[^/]*-linux-gnu)?/(libtracesmith\.so\.\d+|libtsinject.*\.so|tracesmith/.*\.so(\.\d+)?)')
LICENCES = 'licenses/'
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
    address = 'Project-URL: homepage, %s\n' % facts['homepage'] if 'homepage' in facts else ''
    return ('Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\n'
            '%sDescription-Content-Type: text/markdown\n\n%s'
            % (PACKAGE, facts['version'], facts['description'], facts['requires-python'], address, readme))


def files():
    """The package's files: (name in the wheel, path)."""
    folder = os.path.join(HERE, PACKAGE)
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py') or name == 'py.typed':
            yield PACKAGE + '/' + name, os.path.join(folder, name)


def find_tree(settings):
    """The folder with programs and libraries for the wheel, or None."""
    given = (settings or {}).get('tree') or os.environ.get('TRACESMITH_TREE')
    if given == 'none':
        return None
    if given:
        if not os.path.exists(os.path.join(given, 'bin', 'tsctl')):
            raise SystemExit('%s has no bin/tsctl; packaging/tarball.sh makes such a tree' % given)
        return given
    made = os.path.join(SOURCE, 'build', 'tarball', 'tracesmith-%s-linux-%s' % (project()['version'], platform.machine()))
    if not os.path.exists(os.path.join(made, 'bin', 'tsctl')):
        return None
    check_sources(made)
    return made


def check_sources(tree):
    """Refuses a tree that tarball.sh made from other sources than those that are here now."""
    digest = runpy.run_path(os.path.join(SOURCE, 'packaging', 'sources.py'))['digest'](SOURCE)
    stamp = tree + '.sources'
    if not os.path.exists(stamp) or read(stamp).decode().strip() != digest:
        raise SystemExit('%s was made from other sources than these; run packaging/tarball.sh again, or set TRACESMITH_TREE=none for a wheel '
                         'without programs' % os.path.relpath(tree, SOURCE))


def tree_files(tree):
    """{name in the tree: path} of what goes into the wheel."""
    found = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, tree).replace(os.sep, '/')
            if inside.startswith(LICENCES):
                found[inside] = path
            # Of a library and the links to it, the name that the loader searches.
            elif PARTS.fullmatch(inside) and not (name.endswith('.so') and os.path.islink(path)):
                found[inside] = path
    return dict(sorted(found.items()))


def write_wheel(folder, contents, tag=PURE, executable=()):
    """Writes {name: bytes} and what makes it a wheel; returns the wheel's name."""
    base = '%s-%s' % (PACKAGE, project()['version'])
    info = base + '.dist-info/'
    # The licences of a tree.
    contents = {info + name if name.startswith(LICENCES) else name: data for name, data in contents.items()}
    contents[info + 'METADATA'] = metadata().encode()
    contents[info + 'WHEEL'] = ('Wheel-Version: 1.0\nGenerator: tracesmith\nRoot-Is-Purelib: %s\nTag: %s\n'
                                % ('true' if tag == PURE else 'false', tag)).encode()
    scripts = ['tracesmith'] + (['tsctl'] if tag != PURE else [])
    contents[info + 'entry_points.txt'] = ('[console_scripts]\n' + ''.join('%s = tracesmith.__main__:main\n' % name for name in scripts)).encode()
    record = ''
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += '%s,sha256=%s,%d\n' % (name, digest, len(data))
    contents[info + 'RECORD'] = (record + info + 'RECORD,,\n').encode()
    wheel = '%s-%s.whl' % (base, tag)
    with zipfile.ZipFile(os.path.join(folder, wheel), 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            # One date, so that the same sources give the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, data)
    return wheel


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tree = find_tree(config_settings)
    if not tree:
        return write_wheel(wheel_directory, contents())
    parts = {name if name.startswith(LICENCES) else INSIDE + name: read(path) for name, path in tree_files(tree).items()}
    executable = [name for name in parts if name.startswith(INSIDE)]
    return write_wheel(wheel_directory, {**contents(), **parts}, platform_tag.tag(parts), executable)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {PACKAGE + '.pth': (HERE + '\n').encode()})


def build_sdist(sdist_directory, config_settings=None):
    base = '%s-%s' % (PACKAGE, project()['version'])
    inside = {own: read(os.path.join(HERE, own)) for own in ('pyproject.toml', 'README.md', 'build_backend.py', 'platform_tag.py')}
    inside = {'PKG-INFO': metadata().encode(), **inside, **contents()}
    # One date, as in the wheel.
    with open(os.path.join(sdist_directory, base + '.tar.gz'), 'wb') as file, \
            gzip.GzipFile('', 'wb', fileobj=file, mtime=0) as packed, \
            tarfile.open(mode='w', fileobj=packed, format=tarfile.PAX_FORMAT) as archive:
        for name, data in inside.items():
            entry = tarfile.TarInfo('%s/%s' % (base, name))
            entry.size, entry.mode, entry.mtime = len(data), 0o644, 315532800
            archive.addfile(entry, io.BytesIO(data))
    return base + '.tar.gz'


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
