# SPDX-License-Identifier: Apache-2.0
"""The lists of programs: one .ini file for each project, read into Project and Program."""
import configparser
import glob
import os

STEPS = ('run', 'record', 'capture', 'replay', 'check')
PROJECT_KEYS = {'url', 'revision', 'licence', 'prepare'}
PROGRAM_KEYS = {'folder', 'build', 'run', 'vgpu', 'environment', 'status', 'right', 'wrong', 'steps', 'limit', 'schedules',
                'skip', 'smaller', 'refused', 'differs', 'finds', 'note'}


class Project:
    def __init__(self, name, settings):
        self.name = name
        self.url = settings['url']
        self.revision = settings['revision']
        self.licence = settings['licence']
        self.prepare = settings.get('prepare', '')
        self.programs = []


class Program:
    """A section of a list. README.md describes the keys."""

    def __init__(self, project, name, settings):
        unknown = set(settings) - PROGRAM_KEYS - PROJECT_KEYS
        if unknown:
            raise SystemExit('%s/%s: no such key: %s' % (project.name, name, ', '.join(sorted(unknown))))
        self.project = project
        self.short = name
        self.name = project.name + '/' + name
        self.folder = settings.get('folder', '.').replace('@', name)
        self.build = settings.get('build', '').replace('@', name)
        self.command = settings.get('run', '$OUT').replace('@', name)
        self.smaller = [line.split(' => ', 1) for line in settings.get('smaller', '').splitlines() if line.strip()]
        self.vgpu = settings.get('vgpu', '')
        self.environment = dict(pair.split('=', 1) for pair in settings.get('environment', '').split())
        self.status = int(settings.get('status', '0'))
        self.right = settings.get('right', '')
        self.wrong = settings.get('wrong', '')
        self.steps = settings.get('steps', ' '.join(STEPS)).split()
        self.limit = int(settings.get('limit', '60'))
        self.schedules = int(settings.get('schedules', '0'))
        self.skip = settings.get('skip', '')
        self.refused = settings.get('refused', '')
        self.differs = settings.get('differs', '')
        self.finds = [line.split(None, 2) for line in settings.get('finds', '').splitlines() if line.strip()]
        self.note = settings.get('note', '')
        if any(len(change) != 2 for change in self.smaller):
            raise SystemExit('%s: a line of smaller is not "OLD => NEW"' % self.name)

    def expectation(self):
        if self.skip:
            return 'not run: ' + self.skip
        if self.refused:
            return 'refused: ' + self.refused
        said = ['right' if self.right else 'exits with %d' % self.status]
        if self.differs:
            said.append('replay differs: ' + self.differs)
        said.extend('check finds %s in %s' % (kind, kernel) for kind, kernel, _ in self.finds)
        return ', '.join(said)


def read(folder):
    """All projects, in the order of their file names."""
    projects = []
    for path in sorted(glob.glob(os.path.join(folder, '*.ini'))):
        parser = configparser.ConfigParser(interpolation=None, default_section='project', comment_prefixes=('#',))
        with open(path, encoding='utf-8') as stream:
            parser.read_file(stream)
        project = Project(os.path.basename(path)[:-len('.ini')], parser['project'])
        project.programs = [Program(project, name, parser[name]) for name in parser.sections()]
        projects.append(project)
    return projects
