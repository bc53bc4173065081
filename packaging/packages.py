#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of packages.txt, as the tools of distributions want them.

    packages.py spec VERSION DATE          packaging/rpm/tracesmith.spec.in with its packages, on stdout
    packages.py lists ROOT FOLDER [NAME=PATH ...]   a file list for each RPM package, of what is installed under ROOT
    packages.py python FOLDER              the Python package, as its wheel has it, without what is pip's
    packages.py debian-install             each Debian package's file patterns, as in debian/PACKAGE.install
    packages.py debian-check FOLDER        compares FOLDER/control and FOLDER/*.install with the table
    packages.py check BUILD                compares the table with all that `meson install` of a build folder installs
    packages.py targets BUILD              what ninja has to build for `meson install --no-rebuild`

A check prints one line for each difference, and its status is then 1.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
Package = namedtuple('Package', 'role debian rpm is_all summary needs uses patterns description')

# Where RPM macros, Debian's helpers and meson have a folder.
RPM = {'prefix': '%{_prefix}', 'bindir': '%{_bindir}', 'libdir': '%{_libdir}', 'libexecdir': '%{_libexecdir}', 'includedir': '%{_includedir}',
       'datadir': '%{_datadir}', 'mandir': '%{_mandir}', 'sysconfdir': '%{_sysconfdir}', 'pythondir': '%{python3_sitelib}'}
DEBIAN = {'prefix': 'usr', 'bindir': 'usr/bin', 'libdir': 'usr/lib/*', 'libexecdir': 'usr/libexec', 'includedir': 'usr/include',
          'datadir': 'usr/share', 'mandir': 'usr/share/man', 'sysconfdir': 'etc', 'pythondir': 'usr/lib/python3/dist-packages'}
# Folders that Debian has elsewhere, which debian/rules moves.
DEBIAN_MOVES = {'usr/lib/systemd/system/': 'lib/systemd/system/', 'usr/share/doc/tracesmith/examples/': 'usr/share/doc/libtracesmith-dev/examples/'}


def paragraphs(path=os.path.join(HERE, 'packages.txt')):
    """Dicts of {field: [line]}."""
    with open(path, encoding='utf-8') as file:
        text = re.sub(r'^#.*\n', '', file.read(), flags=re.MULTILINE)
    for paragraph in re.split(r'\n{2,}', text.strip()):
        fields, field = {}, None
        for line in paragraph.split('\n'):
            if line.startswith('\t') and field:
                fields[field].append(line[1:])
                continue
            field, colon, value = line.partition(':')
            if not colon or field in fields:
                raise SystemExit('packages.txt: bad line: %s' % line)
            fields[field] = [value.strip()] if value.strip() else []
        yield fields


def read():
    """(packages, others {name: (debian, rpm)}, build packages [(debian, rpm)])."""
    packages, others, build = [], {}, []
    for fields in paragraphs():
        one = {name: ' '.join(lines) for name, lines in fields.items()}
        if 'Package' in fields:
            packages.append(Package(one['Package'], one['Debian'], one['RPM'], one.get('Arch', 'any') == 'all', one['Summary'],
                                    one.get('Needs', '').split(), one.get('Uses', '').split(), fields['Files'], fields['Description']))
        elif 'Other' in fields:
            others[one['Other']] = (one['Debian'], one['RPM'])
        elif 'Build' in fields:
            build.append((one['Debian'], one.get('RPM')))
    return packages, others, build


def expression(pattern, folders):
    """The pattern as a regular expression for paths; `folders` has the folder for each {name}."""
    pattern = pattern.lstrip('?').format(**folders)
    return re.compile(''.join({'**': '.*', '*': '[^/]*'}.get(part, re.escape(part)) for part in re.split(r'(\*\*|\*)', pattern)) + r'\Z')


def assign(paths, folders, without=()):
    """{role: [path]} and the differences between paths and the table."""
    packages, _, _ = read()
    found, differences = {package.role: [] for package in packages}, []
    unused = set()
    patterns = []
    for package in packages:
        for pattern in package.patterns:
            if not any('{%s}' % name in pattern for name in without):
                patterns.append((package, pattern, expression(pattern, folders)))
                if not pattern.startswith('?'):
                    unused.add((package.role, pattern))
    for path in sorted(paths):
        # libtracesmith.so.0 is no libtracesmith.so: each path is of exactly one package.
        owners = [(package, pattern) for package, pattern, regex in patterns if regex.match(path)]
        if len(owners) == 1:
            found[owners[0][0].role].append(path)
        else:
            differences.append('%s is in %s' % (path, ' and in '.join(package.role for package, _ in owners) or 'no package'))
        unused.difference_update((package.role, pattern) for package, pattern in owners)
    differences += ['%s: no file matches %s' % pair for pair in sorted(unused)]
    return found, differences


def rpm_names(roles, packages, others):
    """The dependencies on roles of RPM packages; those on our own name the version."""
    own = {package.role: package for package in packages}
    for role in roles:
        if role in own:
            yield '%s%s = %%{version}-%%{release}' % (own[role].rpm, '' if own[role].is_all else '%{?_isa}')
        else:
            yield others[role][1]


def rpm_package(package, packages, others, base):
    """The lines of a package in the spec file. The base package's own header is in the spec's beginning."""
    own = package.rpm == base
    lines = [] if own else ['%%package -n %s' % package.rpm, 'Summary: %s' % package.summary]
    if package.is_all:
        lines.append('BuildArch: noarch')
        # A package for all machines needs those of no particular one.
        lines += ['Requires: ' + name.replace('%{?_isa}', '') for name in rpm_names(package.needs, packages, others)]
        lines += ['Recommends: ' + name.replace('%{?_isa}', '') for name in rpm_names(package.uses, packages, others)]
    else:
        lines += ['Requires: ' + name for name in rpm_names(package.needs, packages, others)]
        lines += ['Recommends: ' + name for name in rpm_names(package.uses, packages, others)]
    lines += ['', '%description' + ('' if own else ' -n ' + package.rpm)] + package.description
    return '\n'.join(lines) + '\n'


def spec(version, date):
    packages, others, build = read()
    base = next(package for package in packages if package.role == 'tools')
    with open(os.path.join(HERE, 'rpm', 'tracesmith.spec.in'), encoding='utf-8') as file:
        text = file.read()
    parts = [rpm_package(base, packages, others, base.rpm)]
    parts += [rpm_package(package, packages, others, base.rpm) for package in packages if package is not base]
    files = ['%%files%s -f %s.files\n%%license LICENSE\n' % ('' if package is base else ' -n ' + package.rpm, package.role) for package in packages]
    names = {package.role: package.rpm for package in packages}
    project = next(fields for fields in paragraphs() if 'Project' in fields)
    # A field of the spec file without a value is an error.
    url = ''.join('URL: %s\n' % address for address in project['Address'])
    values = {'VERSION': version, 'DATE': date, 'SUMMARY': base.summary, 'NAME': base.rpm, 'URL': url, 'MAINTAINER': project['Maintainer'][0],
              'BUILD': '\n'.join('BuildRequires: ' + rpm for _, rpm in build if rpm), 'PACKAGES': '\n'.join(parts), 'FILES': '\n'.join(files),
              'SERVICE': names['service'], 'LIBRARY': names['library']}
    return re.sub(r'@([A-Z]+)@', lambda match: values[match.group(1)], text)


def lists(root, folder, given):
    """File lists for %files -f: paths of files, and the folders that are a package's alone."""
    folders = dict(pair.split('=', 1) for pair in given)
    paths = [os.path.join(place, name)[len(root):] for place, inside, names in os.walk(root)
             for name in names + [name for name in inside if os.path.islink(os.path.join(place, name))]
             if '__pycache__' not in place]
    found, differences = assign([path for path in paths if not path.startswith(('/usr/lib/debug', '/usr/src/debug'))], folders)
    claimed = set()
    for role, own in found.items():
        config = folders['sysconfdir'] + '/'
        lines = [('%config(noreplace) ' if path.startswith(config) else '') + path + ('*' if '/man/man' in path else '') for path in own]
        for path in own:
            place = os.path.dirname(path)
            while 'tracesmith' in os.path.basename(place) or '/tracesmith/' in place:
                # The first package has a folder that two share, except that the second one needs the first.
                if place not in claimed:
                    claimed.add(place)
                    lines.append('%dir ' + place)
                place = os.path.dirname(place)
        if role == 'python':
            lines += ['%s/tracesmith/__pycache__' % folders['pythondir']]
        with open(os.path.join(folder, role + '.files'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
    return differences


def python_package(folder):
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'tools', 'python'))
    import build_backend  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(os.path.join(place, build_backend.build_wheel(place, {'tree': 'none'}))) as wheel:
        # RECORD lists what pip may remove, and the command `tracesmith` is pip's.
        wheel.extractall(folder, [name for name in wheel.namelist() if not name.endswith(('/RECORD', '/entry_points.txt'))])


def debian_install():
    found = {}
    for package in read()[0]:
        found[package.debian] = [pattern.format(**DEBIAN) for pattern in package.patterns]
        for here, there in DEBIAN_MOVES.items():
            found[package.debian] = [pattern.replace(here, there) for pattern in found[package.debian]]
    return found


def is_in(path, pattern):
    """Whether a line of an .install file, a path, a folder or a pattern of a shell, names what the table's pattern names."""
    wanted = re.sub(r'/\*+\Z', '', pattern.lstrip('?'))
    return re.sub(r'/\*+\Z', '', path.rstrip('/')) in (wanted, os.path.dirname(wanted)) or expression(pattern, {}).match(path) is not None


def debian_check(folder):
    packages, others, build = read()
    differences = []
    with open(os.path.join(folder, 'control'), encoding='utf-8') as file:
        control = [re.sub(r'\n[ \t]+', ' ', paragraph) for paragraph in re.split(r'\n{2,}', re.sub(r'^#.*\n', '', file.read(), flags=re.MULTILINE))]
    fields = [dict(line.split(':', 1) for line in paragraph.strip().split('\n') if ':' in line) for paragraph in control]
    stanzas = {one['Package'].strip(): one for one in fields if 'Package' in one}
    names = {package.role: package.debian for package in packages}
    names.update({role: debian for role, (debian, _) in others.items()})
    own = {package.debian for package in packages}
    for missing in sorted(own ^ set(stanzas)):
        differences.append('%s is in %s only' % (missing, 'packages.txt' if missing in own else 'control'))
    needed = re.findall(r'[a-z0-9][a-z0-9+.-]+', next(one.get('Build-Depends', '') for one in fields if 'Source' in one))
    for debian, _ in build:
        # What each build has: Debian's policy wants these in no control file.
        if debian not in needed and debian not in ('gcc', 'libc6-dev'):
            differences.append('control: Build-Depends lacks %s' % debian)
    for package in packages:
        stanza = stanzas.get(package.debian)
        if stanza is None:
            continue
        if stanza['Architecture'].strip() == 'all' and not package.is_all:
            differences.append('control: %s is for all architectures' % package.debian)
        for role in package.needs:
            # A package for all architectures needs no exact version, because Debian rebuilds some architectures alone.
            version = '' if role in others else r' \(>?= \$\{(binary:Version|source:Upstream-Version)\}\)'
            if not re.search(r'(^|[ ,])%s%s(,|$)' % (re.escape(names[role]), version), stanza.get('Depends', '')):
                differences.append('control: %s does not need %s' % (package.debian, names[role]))
        path = os.path.join(folder, package.debian + '.install')
        if not os.path.exists(path):
            differences.append('%s.install is missing' % package.debian)
            continue
        with open(path, encoding='utf-8') as file:
            words = [line.split() for line in file if line.strip() and not line.startswith('#')]
        # "debian/default/tracesmithd etc/default" installs a file under another folder.
        lines = [one[1] + '/' + os.path.basename(one[0]) if len(one) > 1 else re.sub(r'\$\{DEB_HOST_MULTIARCH\}', '*', one[0]) for one in words]
        patterns = debian_install()[package.debian]
        for pattern in patterns:
            if not pattern.startswith('?') and not any(is_in(line, pattern) for line in lines):
                differences.append('%s.install lacks %s' % (package.debian, pattern))
        for line in lines:
            if not any(is_in(line, pattern) for pattern in patterns):
                differences.append('%s.install has %s' % (package.debian, line))
    return differences


def meson(build, *what):
    return json.loads(subprocess.run(['meson', 'introspect', *what, build], stdout=subprocess.PIPE, check=True).stdout)


def check(build):
    """Python's files and the configuration are in no `meson install`."""
    options = {option['name']: option['value'] for option in meson(build, '--buildoptions')}
    folders = {name: os.path.join(options['prefix'], options[name]) for name in RPM if name not in ('prefix', 'pythondir', 'sysconfdir')}
    folders['prefix'] = options['prefix']
    without = ['pythondir', 'sysconfdir']
    if options['vgpu'] == 'disabled':
        raise SystemExit('a build without the virtual GPU has not all packages')
    return assign(meson(build, '--installed').values(), folders, without)[1]


def targets(build):
    root = os.path.realpath(build)
    return sorted({os.path.relpath(os.path.realpath(path), root) for target in meson(build, '--targets') if target['installed']
                   for path in target['filename']})


def main():
    what, arguments = (sys.argv[1:2] or [''])[0], sys.argv[2:]
    differences = []
    if what == 'spec':
        sys.stdout.write(spec(*arguments))
    elif what == 'lists':
        differences = lists(arguments[0], arguments[1], arguments[2:])
    elif what == 'python':
        python_package(*arguments)
    elif what == 'debian-install':
        for name, patterns in debian_install().items():
            print('%s:\n\t%s' % (name, '\n\t'.join(patterns)))
    elif what == 'debian-check':
        differences = debian_check(*arguments)
    elif what == 'check':
        differences = check(*arguments)
    elif what == 'targets':
        print('\n'.join(targets(*arguments)))
    else:
        sys.exit(__doc__)
    for difference in differences:
        print(difference, file=sys.stderr)
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
