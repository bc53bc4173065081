// SPDX-License-Identifier: Apache-2.0
// Two traces side by side: what changed, and the alignment of the second one's lanes: by the selected rows, by the n-th time of a range,
// or by the n-th launch of a kernel, which is a step of the program. Asks "diff", and for the names in both traces "stats".
import { button, el, nameText, number, table } from '../core/dom';
import { brief, briefs, clean, filterOf, shorten } from '../core/names';
import { formatDuration } from '../core/time';
import { isAbort, Row } from '../data/api';
import { Selection } from '../model';
import { Panel } from './panel';
import { damageNote } from './parts';

interface Side {
	count?: number;
	total_ns?: number;
	median_ns?: number;
}

interface Name {
	type: string;
	name: string;
	verdict: string;
	before?: Side;
	after?: Side;
	p?: number;
}

interface Operation {
	type: string;
	name: string;
	session?: number; // of the second trace, if it has the operation
	op_id_before?: number;
	op_id_after?: number;
	duration_before_ns?: number;
	duration_after_ns?: number;
	wait_before_ns?: number;
	wait_after_ns?: number;
}

interface Total {
	damaged?: boolean;
	path?: string;
	operations?: number;
	operations_ns?: number;
	span_ns?: number;
	busy_ns?: number;
}

interface DiffAnswer {
	before: Total;
	after: Total;
	names?: Name[];
	first_difference?: Operation;
	slower?: Operation[];
	host_clock?: boolean;
}

interface Named {
	name: string;
	count: number;
}

const VERDICTS: { readonly [verdict: string]: string } = {
	same: 'no provable change', few: 'too few to compare', gone: 'only before', new: 'only after', more: 'more launches',
	fewer: 'fewer launches', config: 'other launch shape',
};

const NAMES = 200;      // in the list of each type
const MOST_TIMES = 20000;

export class ComparePanel extends Panel {
	readonly id = 'compare';
	readonly title = 'Two traces';
	private readonly place = el('div');
	private readonly aligned = el('span', { class: 'dim', id: 'aligned' });
	private first: Selection | undefined; // a row of the first trace
	private second: Selection | undefined;
	private asked = false;
	private readonly names = el('select', { id: 'align-name', label: 'Range or kernel to align by' });
	private readonly times = el('input', { id: 'align-number', type: 'number', label: 'Which time it occurs, from 1' });
	private aligning: AbortController | undefined;

	update(): void {
		if (this.asked)
			return;
		this.asked = true;
		const { tree } = this.model;
		const pairs = el('input', { type: 'checkbox', id: 'pair-lanes' });
		pairs.checked = tree.paired;
		pairs.addEventListener('change', () => {
			tree.pair(pairs.checked);
			this.model.emit('lanes');
		});
		this.root.replaceChildren(el('div', { class: 'toolbar' }, el('label', { class: 'check' }, pairs, ' lanes side by side'),
			button('Align by the selected row', () => this.align(), { title: 'Select a row of one trace, then one of the other; both then begin at the same place.' }),
			button('Align the starts', () => this.setOffset(0)), this.byName(), this.aligned), this.place);
		this.model.on('selection', () => this.note());
		this.note();
		void this.ask(this.place, 'Comparing\u2026', async (signal) =>
			this.show(await this.model.api.ask<DiffAnswer>('diff', { limit: 30 }, 0, signal)));
	}

	/* The form that aligns by a range or a step. */
	private byName(): HTMLElement {
		this.times.min = '1';
		this.times.value = '1';
		this.names.disabled = true;
		const form = el('form', { class: 'inline' }, el('label', {}, 'Align by ', this.names), el('label', {}, ' number ', this.times));
		const align = button('Align', () => undefined, { title: 'Both traces are drawn so that this range or launch begins at the same place.' });
		align.type = 'submit';
		form.append(align);
		form.addEventListener('submit', (event) => {
			event.preventDefault();
			const option = this.names.selectedOptions[0];
			if (option)
				void this.alignBy(option.dataset.type as string, option.dataset.name as string, Math.max(1, Number(this.times.value) || 1));
		});
		void this.readNames();
		return form;
	}

	/* Ranges and kernels that both traces have, the most frequent last: a step begins with what is launched once in it. */
	private async readNames(): Promise<void> {
		try {
			const ask = (type: string): Promise<Array<{ ranges?: Named[]; kernels?: Named[] }>> => Promise.all([0, 1].map((trace) =>
				this.model.api.ask<{ ranges?: Named[]; kernels?: Named[] }>('stats', { types: [type], limit: NAMES }, trace)));
			for (const [type, key, title] of [['range', 'ranges', 'Ranges'], ['kernel', 'kernels', 'Steps: launches of']] as const) {
				const [first, second] = (await ask(type)).map((answer) => new Map((answer[key] || []).map((item) => [item.name, item.count])));
				const group = el('optgroup');
				group.label = title;
				for (const [name, count] of [...first].filter(([text]) => second.has(text)).sort((a, b) => a[1] - b[1])) {
					group.append(el('option', { data: { type, name } }, clean(shorten(name), 60) + ' (' +
						Math.min(count, second.get(name) as number) + ')'));
				}
				if (group.childNodes.length)
					this.names.append(group);
			}
			this.names.disabled = !this.names.options.length;
			if (this.names.disabled)
				this.aligned.textContent = 'The traces have no range and no kernel in common.';
		} catch (error) {
			this.shell.fail(error);
		}
	}

	private async alignBy(type: string, name: string, n: number): Promise<void> {
		if (this.aligning)
			this.aligning.abort();
		const controller = new AbortController();
		this.aligning = controller;
		try {
			const rows = await Promise.all([0, 1].map((trace) => this.nth(type, name, n, trace, controller.signal)));
			if (controller.signal.aborted)
				return;
			const [a, b] = rows;
			if (!a || !b) {
				this.aligned.textContent = 'Trace ' + (a ? 'B' : 'A') + ' has no number ' + n + ' of it.';
				return;
			}
			const start = this.model.relative(a.start_ns, 0);
			this.setOffset(start - this.model.relative(b.start_ns, 1));
			this.shell.goToSpan(start, Math.max(this.model.relative(a.end_ns, 0), start + 1));
		} catch (error) {
			if (!isAbort(error))
				this.shell.fail(error);
		}
	}

	/* The n-th row of a name, from 1, in order of start. */
	private async nth(type: string, name: string, n: number, trace: number, signal: AbortSignal): Promise<Row | undefined> {
		let seen = 0;
		let found: Row | undefined;
		await this.model.api.eachLine<Row>('rows', { types: [type], filter: { name: filterOf(name) }, limit: Math.min(MOST_TIMES, 4 * n + 100) },
			trace, undefined, signal,
			(row) => {
				if (row.name === name && ++seen === n)
					found = row;
			});
		return found;
	}

	private note(): void {
		const { selection } = this.model;
		if (!selection)
			return;
		if (this.model.traceOf(selection.lane))
			this.second = selection;
		else
			this.first = selection;
	}

	private align(): void {
		if (!this.first || !this.second) {
			this.aligned.textContent = 'Select a row of each trace first.';
			return;
		}
		this.setOffset(this.first.start - this.second.start);
	}

	private setOffset(offset: number): void {
		this.model.offset = offset;
		this.model.emit('cursor');
		this.aligned.textContent = offset ? 'Trace B is drawn ' + formatDuration(Math.abs(offset)) +
			(offset > 0 ? ' later.' : ' earlier.') : '';
		this.model.emit('view');
	}

	/* By how much the sum of a name's durations changed. */
	private changeOf(name: Name): string {
		const before = name.before && name.before.total_ns;
		const after = name.after && name.after.total_ns;
		if (!before || !after)
			return '';
		const percent = 100 * (after / before - 1);
		return (percent < 0 ? '\u2212' : '+') + Math.abs(percent).toFixed(1) + ' %';
	}

	private show(answer: DiffAnswer): Array<HTMLElement | undefined> {
		const total = (title: string, key: 'operations' | 'operations_ns' | 'span_ns' | 'busy_ns'): readonly [string, unknown, unknown] =>
			[title, answer.before[key], answer.after[key]];
		const names = (answer.names || []).slice(0, 60);
		const shown = briefs(names.map((name) => name.name), 120);
		return [damageNote(answer.before, answer.after), el('div', { class: 'columns' },
			el('section', { class: 'narrow' }, table('Totals', [
				{ head: '', cell: (row: readonly [string, unknown, unknown]) => row[0] },
				{ head: 'Before (A)', class: 'number', cell: (row) => number(row[0] === 'Operations' ? 'count' : 'ns', row[1]) },
				{ head: 'After (B)', class: 'number', cell: (row) => number(row[0] === 'Operations' ? 'count' : 'ns', row[2]) },
			], [total('Operations', 'operations'), total('Sum of durations', 'operations_ns'), total('Busy', 'busy_ns'),
				total('From first to last', 'span_ns')])),
			el('section', { class: 'broad' }, answer.host_clock ? el('p', { class: 'dim', id: 'host-clock' },
				'These are times of the host, which vary from run to run: a name is slower or faster only if its time changed by a factor of 10. ' +
				'`tsctl diff` with 5 traces on each side finds smaller changes.') : undefined, table('Names', [
				{ head: 'Verdict', class: 'short', cell: (name: Name) => el('span', { class: name.verdict === 'slower' ? 'bad' :
					name.verdict === 'faster' ? 'good' : '', data: { verdict: name.verdict } },
				VERDICTS[name.verdict] || clean(name.verdict, 20)) },
				{ head: 'Name', cell: (name) => nameText(shown.get(name.name)) },
				{ head: 'A', class: 'number', cell: (name) => number('ns', name.before && name.before.total_ns) },
				{ head: 'B', class: 'number', cell: (name) => number('ns', name.after && name.after.total_ns) },
				{ head: 'Change', class: 'number', cell: (name) => this.changeOf(name) },
				{ head: 'Launches', class: 'number', cell: (name) => ((name.before && name.before.count) || 0) + ' \u2192 ' +
					((name.after && name.after.count) || 0) },
			], names, (name) => ({ title: name.name }))),
			el('section', {}, this.difference(answer), table('Operations that took longer, with the wait before them', [
				{ head: 'Operation', cell: (o: Operation) => button(brief(o.name, 100), () => void this.both(o), { class: 'link',
					title: 'Show both, aligned' }) },
				{ head: 'A', class: 'number', cell: (o) => number('ns', o.duration_before_ns) },
				{ head: 'B', class: 'number', cell: (o) => number('ns', o.duration_after_ns) },
				{ head: 'Wait in A', class: 'number', cell: (o) => number('ns', o.wait_before_ns) },
				{ head: 'Wait in B', class: 'number', cell: (o) => number('ns', o.wait_after_ns) },
			], answer.slower || [])))];
	}

	private difference(answer: DiffAnswer): HTMLElement | undefined {
		const first = answer.first_difference;
		if (!first)
			return undefined;
		return el('p', {}, 'The first difference: ', button(brief(first.name, 100), () => void this.both(first),
			{ class: 'link', title: 'Show it' }), first.op_id_before === undefined ? ', only in B.' :
			first.op_id_after === undefined ? ', only in A.' : '.');
	}

	/* Selects the operation in both traces and aligns their starts. */
	private async both(operation: Operation): Promise<void> {
		if (operation.op_id_before !== undefined)
			await this.shell.goToOperation(operation.op_id_before, 0, operation.op_id_after === undefined ? operation.session : undefined);
		if (operation.op_id_after !== undefined)
			await this.shell.goToOperation(operation.op_id_after, 1, operation.session);
		if (operation.op_id_before !== undefined && operation.op_id_after !== undefined) {
			this.align();
			if (this.first)
				this.shell.goToSpan(this.first.start, Math.max(this.first.end, this.first.start + 1), this.first.lane);
		}
	}
}
