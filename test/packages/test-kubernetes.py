#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes manifests: fields and types by the API's reference (v1, apps/v1), and facts that the sources have too."""
import copy
import os
import re
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(SOURCE, 'packaging', 'kubernetes')

try:
    import yaml
except ImportError:
    print('skipped: python3-yaml is not installed', file=sys.stderr)
    sys.exit(77)

# Fields by https://kubernetes.io/docs/reference/kubernetes-api (v1.31), as far as the manifests use their kinds. A type, a dict of fields,
# [element], {str: type} by '*', or a set of permitted words. Fields with ! must be there.
TEXTS = {'*': str}
QUANTITY = re.compile(r'\d+(\.\d+)?(m|Ki|Mi|Gi)?\Z')
PORTION = re.compile(r'\d+%?\Z')
LABEL = re.compile(r'[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z')
METADATA = {'name!': LABEL, 'namespace': LABEL, 'labels': TEXTS, 'annotations': TEXTS}
RESOURCES = {'requests': {'*': QUANTITY}, 'limits': {'*': QUANTITY}}
PROBE = {'exec': {'command!': [str]}, 'periodSeconds': int, 'failureThreshold': int, 'timeoutSeconds': int, 'initialDelaySeconds': int,
         'successThreshold': int}
CAPABILITY = {'BPF', 'PERFMON', 'SYS_PTRACE', 'CHOWN', 'FOWNER', 'DAC_READ_SEARCH', 'ALL'}
SECURITY = {'runAsUser': int, 'runAsGroup': int, 'runAsNonRoot': bool, 'allowPrivilegeEscalation': bool, 'readOnlyRootFilesystem': bool,
            'privileged': bool, 'capabilities': {'add': [CAPABILITY], 'drop': [CAPABILITY]},
            'seccompProfile': {'type!': {'RuntimeDefault', 'Unconfined', 'Localhost'}, 'localhostProfile': str}}
CONTAINER = {'name!': LABEL, 'image!': str, 'imagePullPolicy': {'Always', 'IfNotPresent', 'Never'}, 'command': [str], 'args': [str],
             'workingDir': str, 'env': [{'name!': str, 'value': str}], 'securityContext': SECURITY, 'resources': RESOURCES,
             'startupProbe': PROBE, 'livenessProbe': PROBE, 'readinessProbe': PROBE,
             'volumeMounts': [{'name!': LABEL, 'mountPath!': str, 'readOnly': bool, 'subPath': str}]}
VOLUME = {'name!': LABEL, 'emptyDir': {'sizeLimit': QUANTITY, 'medium': str},
          'hostPath': {'path!': str, 'type': {'', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket'}}}
POD = {'serviceAccountName': LABEL, 'automountServiceAccountToken': bool, 'hostPID': bool, 'hostNetwork': bool, 'hostIPC': bool,
       'terminationGracePeriodSeconds': int, 'restartPolicy': {'Always', 'OnFailure', 'Never'}, 'nodeSelector': TEXTS,
       'tolerations': [{'key': str, 'operator': {'Exists', 'Equal'}, 'value': str, 'effect': {'NoSchedule', 'PreferNoSchedule', 'NoExecute'}}],
       'initContainers': [CONTAINER], 'containers!': [CONTAINER], 'volumes': [VOLUME]}
KINDS = {
    ('v1', 'Namespace'): {'metadata!': METADATA},
    ('v1', 'ServiceAccount'): {'metadata!': METADATA, 'automountServiceAccountToken': bool},
    ('v1', 'Pod'): {'metadata!': METADATA, 'spec!': POD},
    ('apps/v1', 'DaemonSet'): {'metadata!': METADATA, 'spec!': {
        'selector!': {'matchLabels': TEXTS}, 'minReadySeconds': int, 'revisionHistoryLimit': int,
        'updateStrategy': {'type': {'RollingUpdate', 'OnDelete'}, 'rollingUpdate': {'maxUnavailable': PORTION, 'maxSurge': PORTION}},
        'template!': {'metadata': {'labels': TEXTS, 'annotations': TEXTS}, 'spec!': POD}}},
}


def differences(value, kind, place):
    """A line for each field that the reference does not have, or has with another type."""
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return ['%s is no map' % place]
        fields = {name.rstrip('!'): one for name, one in kind.items()}
        found = ['%s lacks %s' % (place, name[:-1]) for name in kind if name.endswith('!') and name[:-1] not in value]
        for name, one in value.items():
            if name in fields or '*' in fields:
                found += differences(one, fields.get(name, fields.get('*')), '%s.%s' % (place, name))
            else:
                found.append('%s has an unknown field %s' % (place, name))
        return found
    if isinstance(kind, list):
        if not isinstance(value, list):
            return ['%s is no list' % place]
        return [line for i, one in enumerate(value) for line in differences(one, kind[0], '%s[%d]' % (place, i))]
    if isinstance(kind, set):
        return [] if value in kind else ['%s: %s is none of %s' % (place, value, ', '.join(sorted(kind)))]
    if isinstance(kind, re.Pattern):
        return [] if isinstance(value, (str, int)) and not isinstance(value, bool) and kind.match(str(value)) else ['%s: bad value %s' % (place, value)]
    return [] if type(value) is kind else ['%s: %r is no %s' % (place, value, kind.__name__)]


def check(document):
    kind = KINDS.get((document.get('apiVersion'), document.get('kind')))
    if kind is None:
        return ['unknown kind %s %s' % (document.get('apiVersion'), document.get('kind'))]
    return differences({name: value for name, value in document.items() if name not in ('apiVersion', 'kind')}, kind, document['kind'])


def text(*names):
    with open(os.path.join(SOURCE, *names), encoding='utf-8') as file:
        return file.read()


def load(name):
    return list(yaml.safe_load_all(text('packaging', 'kubernetes', name)))


def merge(base, patch):
    """A strategic merge as far as the patch uses it: lists of objects by name, other lists and values whole."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return {**base, **{name: merge(base[name], one) if name in base else one for name, one in patch.items()}}
    if isinstance(base, list) and base and isinstance(base[0], dict) and 'name' in base[0]:
        merged = {one['name']: one for one in base}
        for one in patch:
            merged[one['name']] = merge(merged.get(one['name'], {}), one)
        return list(merged.values())
    return patch


class Manifests(unittest.TestCase):
    def setUp(self):
        self.documents = load('tracesmith.yaml')
        self.daemon_set = self.documents[-1]
        self.pod = self.daemon_set['spec']['template']['spec']
        self.service = self.pod['containers'][0]

    def test_fields(self):
        for document in self.documents + load('example-pod.yaml'):
            self.assertEqual(check(document), [])

    def test_patch(self):
        patch, = load('kernel-events.yaml')
        merged = merge(self.daemon_set, patch)
        self.assertEqual(check(merged), [])
        pod = merged['spec']['template']['spec']
        # A name that the manifest lacks would be a second container without an image.
        self.assertEqual((len(pod['containers']), len(pod['initContainers'])), (1, 1))
        service = pod['containers'][0]
        self.assertEqual(service['securityContext']['capabilities']['add'], ['BPF', 'PERFMON'])
        self.assertIn('--kernel-events', service['args'])
        self.assertTrue(pod['hostPID'])
        # The folders belong to the user that the service then has.
        self.assertIn('chown -R %d:' % service['securityContext']['runAsUser'], pod['initContainers'][0]['args'][0])

    def test_mistakes_are_found(self):
        for change, found in ((lambda pod: pod.update(hostPid=True), 'unknown field hostPid'),
                              (lambda pod: pod['containers'][0].pop('image'), 'lacks image'),
                              (lambda pod: pod['containers'][0]['args'].append(1), 'is no str'),
                              (lambda pod: pod['volumes'][0]['hostPath'].update(type='Folder'), 'is none of'),
                              (lambda pod: pod['containers'][0]['resources']['limits'].update(memory='16GB'), 'bad value 16GB')):
            changed = copy.deepcopy(self.daemon_set)
            change(changed['spec']['template']['spec'])
            lines = check(changed)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(found, lines[0])

    def test_references(self):
        labels = self.daemon_set['spec']['template']['metadata']['labels']
        self.assertEqual(self.daemon_set['spec']['selector']['matchLabels'].items() - labels.items(), set())
        names = {document['kind']: document['metadata']['name'] for document in self.documents}
        self.assertEqual(self.pod['serviceAccountName'], names['ServiceAccount'])
        self.assertEqual({document['metadata']['namespace'] for document in self.documents[1:]}, {names['Namespace']})
        for pod in (self.pod, load('example-pod.yaml')[0]['spec']):
            volumes = {volume['name'] for volume in pod['volumes']}
            mounted = [mount for container in pod['containers'] + pod.get('initContainers', []) for mount in container['volumeMounts']]
            self.assertEqual({mount['name'] for mount in mounted}, volumes)

    def test_each_right_has_its_reason(self):
        for name in ('tracesmith.yaml', 'kernel-events.yaml', 'example-pod.yaml'):
            lines = text('packaging', 'kubernetes', name).split('\n')
            for i, line in enumerate(lines):
                if re.match(r'\s+(- [A-Z_]+$|path: |hostPID: |type: Unconfined)', line):
                    self.assertRegex(lines[i - 1], r'^\s+# ', '%s:%d' % (name, i + 1))

    def test_facts_of_the_sources(self):
        version = re.search(r"version: '(.*)'", text('meson.build')).group(1)
        dockerfile = text('packaging', 'container', 'Dockerfile')
        user = int(re.search(r'^USER (\d+)', dockerfile, re.MULTILINE).group(1))
        security = self.service['securityContext']
        self.assertEqual((security['runAsUser'], security['runAsGroup'], security['runAsNonRoot']), (user, user, True))
        self.assertEqual(security['capabilities'], {'drop': ['ALL']})
        for container in self.pod['containers'] + self.pod['initContainers']:
            self.assertTrue(container['image'].endswith(':' + version), container['image'])
            self.assertNotIn('privileged', container['securityContext'])
        options = text('daemon', 'main.c') + text('daemon', 'serve', 'limits.c')
        for option in [word for word in self.service['args'] + ['--kernel-events'] if word.startswith('--')]:
            self.assertIn('"%s"' % option[2:], options)
        places = {volume['name']: volume['hostPath']['path'] for volume in self.pod['volumes'] if 'hostPath' in volume}
        mounts = {mount['name']: mount['mountPath'] for mount in self.service['volumeMounts']}
        socket = re.search(r'TS_INJECT_SOCKET\s+"([^"]*)"', text('proto', 'abi', 'handshake.h')).group(1)
        self.assertEqual((places['run'], mounts['run']), (os.path.dirname(socket), os.path.dirname(socket)))
        self.assertEqual(mounts['traces'], self.service['args'][1])
        limit = re.search(r'^MemoryMax=(\d+)G', text('packaging', 'systemd', 'tracesmithd.service.in'), re.MULTILINE).group(1)
        self.assertEqual(self.service['resources']['limits']['memory'], limit + 'Gi')

    def test_recorded_pod_has_the_service_s_places(self):
        pod = load('example-pod.yaml')[0]['spec']
        places = {volume['hostPath']['path'] for volume in pod['volumes']}
        own = {volume['hostPath']['path'] for volume in self.pod['volumes'] if 'hostPath' in volume}
        self.assertLessEqual(places, own)
        library = pod['containers'][0]['env'][0]['value']
        self.assertEqual(os.path.basename(library), 'libtsinject.so')
        mounts = {mount['mountPath']: mount['name'] for mount in pod['containers'][0]['volumeMounts']}
        self.assertIn(os.path.dirname(library), mounts)
        # Mounted where the node has it, so that one value serves pods and the node's own programs.
        for volume in pod['volumes']:
            self.assertEqual(mounts[volume['hostPath']['path']], volume['name'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
