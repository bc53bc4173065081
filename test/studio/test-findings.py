#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings of a replay in Studio's page, in a real Chromium: a race, a fault, a result that depends on the order, a difference from the
capture. Each equals `tsctl replay --json`, on PTX and source, with the stacks of both sides."""
import json
import os
import sys
import time

import pages
import harness
import studio
from pages import THOROUGH

CHECK, REPEAT, ORDERS = 'Check for races, bounds and order', 'Compare repeated runs', 'Try 20 other orders'
LATE = os.path.join(harness.SOURCE, 'test', 'apps', 'late.py')


class Findings(pages.Case):
    def run_replay(self, page, title):
        """Clicks one of the panel's buttons, and waits for the result."""
        self.tab(page, 'replay')
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === %s).click()' % json.dumps(title))
        page.wait('document.querySelector("#replay-result .lead")', harness.SECONDS)

    def replay(self, path, *options):
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', *options, path)
        session, = [json.loads(line) for line in result.out.splitlines()]
        return session

    def capture(self, argv, status=0):
        result, path = self.record(argv, '--vgpu=small', '--capture', 'replay', '--force')
        self.assertEqual(result.status, status, result)
        return path

    def cards(self, page):
        """Of each card: its text, its facts by the heading above them, and the functions of its stacks."""
        return page.run('''(() => {
            document.querySelectorAll('#replay-result details').forEach(d => { d.open = true; });
            for (const b of document.querySelectorAll('#replay-result button'))
                if (/^All \\d+ frames$/.test(b.innerText)) b.click();
            return [...document.querySelectorAll('#replay-result .card')].map(card => ({
                text: card.innerText, finding: card.dataset.finding || '',
                facts: Object.fromEntries([...card.querySelectorAll('dl.facts')].map(l => [
                    l.parentElement.tagName === 'SECTION' ? l.parentElement.querySelector('h3').innerText : '',
                    Object.fromEntries([...l.querySelectorAll('dt')].map(t => [t.innerText, t.nextElementSibling.innerText]))])),
                stacks: [...card.querySelectorAll('ol.stack')].map(o => [...o.querySelectorAll('.name')].map(e => e.innerText)),
            }));
        })()''')

    def check_stack(self, frames, stack):
        for symbol in stack['symbols']:
            if 'function' in symbol:
                self.assertTrue([text for text in frames if text.startswith(symbol['function'])], (symbol, frames))

    def check_side(self, facts, side):
        self.assertEqual(facts['Operation'], '%s %d' % (side['kind'], side['op_id']))
        self.assertEqual(facts['Kernel'], side['name'])
        if 'access' in side:
            self.assertEqual(facts['Access'], side['access'])
        if 'source_file' in side:
            self.assertEqual(facts['Source'], '%s:%d' % (side['source_file'], side['source_line']))
        if 'line' in side:
            self.assertEqual(facts['PTX line'], str(side['line']))
        for key in ('block', 'thread'):
            if side.get(key):
                self.assertEqual(facts[key.capitalize()], ', '.join(map(str, side[key])))

    def check_findings(self, page, session):
        self.assertIn('%d finding' % len(session['findings']), page.text('#replay-result .lead'))
        cards = [card for card in self.cards(page) if card['finding']]
        self.assertEqual([card['finding'] for card in cards], [finding['kind'] for finding in session['findings']])
        for card, finding in zip(cards, session['findings']):
            self.assertIn(finding['kernel'], card['text'])
            self.assertTrue(card['facts']['']['Address'].startswith('0x%x' % int(finding['address'])), card['facts'])
            self.assertEqual((card['facts']['']['Bytes'], card['facts']['']['Times']), (str(finding['bytes']), str(finding['times'])))
            sides = [('The later access' if 'earlier' in finding else 'The access', finding['access'])]
            if 'earlier' in finding:
                sides.append(('The earlier access', finding['earlier']))
            self.assertEqual(len(card['stacks']), len(sides))
            for frames, (title, side) in zip(card['stacks'], sides):
                self.check_side(card['facts'][title], side)
                # The answer has the stack of a call once.
                self.check_stack(frames, side.get('stack') or sides[0][1]['stack'])
            for remedy in finding.get('remedies', []):
                self.assertIn(remedy, card['text'])

    def test_a_race(self):
        """Both sides, on PTX and source, with their stacks; each leads to its operation in the timeline."""
        session = self.replay(studio.golden('race'), '--check')
        race = next(finding for finding in session['findings'] if finding['kind'] == 'race')
        self.assertTrue(race['access']['source_file'] and race['earlier']['source_file'])
        page, _ = self.open('race')
        self.run_replay(page, CHECK)
        self.check_findings(page, session)
        page.click('#replay-result [data-finding=race] section .facts .link')
        page.wait_text('#selected-name', race['kernel'])
        self.assertIn(str(race['access']['op_id']), page.texts('#panel-body .facts dd'))

    @THOROUGH
    def test_no_finding(self):
        page, _ = self.open('capture')
        for title, options in ((CHECK, ('--check',)), (REPEAT, ('--repeat', '2', '--compare-every', '1')), (ORDERS, ('--schedules', '20'))):
            self.run_replay(page, title)
            session = self.replay(studio.golden('capture'), *options)
            self.assertEqual(session['verdict'], 'same')
            page.wait_text('#replay-result .lead', 'same results, 0 findings, %d operations' % session['operations'])
            page.run('document.querySelector("#replay-result").replaceChildren()')

    @THOROUGH
    def test_without_a_capture(self):
        page, _ = self.open('pipeline')
        self.tab(page, 'replay')
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === %s).click()' % json.dumps(CHECK))
        page.wait_text('#replay-result', '--capture replay', harness.SECONDS)

    @THOROUGH
    def test_a_fault(self):
        """The kernel's place in PTX, and the stack of its launch."""
        path = self.capture([harness.app('faults', 'driver'), 'bounds'], status=9)
        session = self.replay(path, '--check')
        page, _ = self.open(path)
        self.run_replay(page, CHECK)
        self.check_findings(page, session)
        card = self.cards(page)[-1]
        self.assertIn('The replay ended', card['text'])
        self.assertIn(session['refusal']['why'], card['text'])
        self.assertIn('PTX line', card['text'])
        self.check_stack(card['stacks'][-1], session['refusal']['stack'])

    @THOROUGH
    def test_unordered_streams(self):
        """Two operations without an order, with the streams and calls of both."""
        path = self.capture([harness.app('faults', 'driver'), 'streams'])
        session = self.replay(path, '--check')
        finding = next(finding for finding in session['findings'] if finding['kind'] == 'unordered')
        page, _ = self.open(path)
        self.run_replay(page, CHECK)
        cards = [card for card in self.cards(page) if card['finding'] == 'unordered']
        self.assertEqual(len(cards), 1)
        for title, side in (('The later access', finding['access']), ('The earlier access', finding['earlier'])):
            facts = cards[0]['facts'][title]
            self.assertEqual((facts['Operation'], facts['Kernel'], facts['Stream']),
                             ('%s %d' % (side['kind'], side['op_id']), side['name'], str(side['stream'])))
        self.assertEqual(len(cards[0]['stacks']), 2)

    @THOROUGH
    def test_other_orders(self):
        """A sum of floats: the launch on whose order the result depends, with its place in PTX."""
        path = self.capture([harness.app('faults', 'driver'), 'sum'])
        session = self.replay(path, '--schedules', '20')
        self.assertEqual(session['verdict'], 'nondeterministic')
        page, _ = self.open(path)
        self.run_replay(page, ORDERS)
        self.assertIn('nondeterministic', page.text('#replay-result .lead'))
        cards = self.cards(page)
        difference = next(card for card in cards if 'First difference' in card['text'])
        self.assertEqual((difference['facts']['']['Expected'], difference['facts']['']['Found']),
                         (session['difference']['expected'], session['difference']['found']))
        decisions = [card for card in cards if 'depends on' in card['text']]
        self.assertEqual(len(decisions), len(session['decisions']))
        for card, decision in zip(decisions, session['decisions']):
            self.assertIn('%s of %s' % (decision['kind'], decision['name']), card['text'])
            facts = card['facts']['The operation']
            self.assertEqual((facts['Operation'], facts['PTX line'], facts['Called by']),
                             ('%s %d' % (decision['operation'], decision['op_id']), str(decision['line']),
                              '%s in %s' % (decision['done']['call'], decision['done']['site'])))
            self.assertEqual((card['facts']['']['Ran first'], card['facts']['']['Instead of']), tuple(
                'block %d, warp %d, PTX line %d' % tuple(decision[prefix + key] for key in ('block', 'warp', 'line')) for prefix in ('', 'instead_')))
            for remedy in decision['remedies']:
                self.assertIn(remedy, card['text'])

    @THOROUGH
    def test_held_operations(self):
        """Two streams without an order: both operations, and their calls."""
        path = self.capture([harness.app('faults', 'driver'), 'streams'])
        session = self.replay(path, '--schedules', '20')
        self.assertEqual({decision['kind'] for decision in session['decisions']}, {'held'})
        decision = session['decisions'][0]
        page, _ = self.open(path)
        self.run_replay(page, ORDERS)
        card = next(card for card in self.cards(page) if 'depends on' in card['text'])
        for title, side in (('Ran later', decision['done']), ('After', decision['first_done'])):
            facts = card['facts'][title]
            self.assertEqual((facts['Operation'], facts['Kernel'], facts['Stream'], facts['Called by']), (
                '%s %d' % (side['kind'], side['op_id']), side['name'], str(side['stream']), '%s in %s' % (side['call'], side['site'])))

    @THOROUGH
    def test_a_difference_from_the_capture(self):
        """A kernel that reads the clock: repeated runs, compared after each operation, differ from the capture."""
        path = self.capture([sys.executable, LATE, '1'])
        session = self.replay(path, '--repeat', '2', '--compare-every', '1')
        # Until its time is over for the first of two runs, too.
        while session['verdict'] != 'differs':
            time.sleep(0.1)
            session = self.replay(path, '--repeat', '2', '--compare-every', '1')
        page, _ = self.open(path)
        self.run_replay(page, REPEAT)
        self.assertIn('different results', page.text('#replay-result .lead'))
        card = next(card for card in self.cards(page) if 'First difference' in card['text'])
        self.assertEqual((card['facts']['']['Expected'], card['facts']['']['Found']), (session['difference']['expected'], session['difference']['found']))
        self.check_stack(card['stacks'][-1], session['difference']['stack'])


if __name__ == '__main__':
    harness.main()
