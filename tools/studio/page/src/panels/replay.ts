// SPDX-License-Identifier: Apache-2.0
// Findings of a replay: races, accesses out of bounds, results that depend on order, differences from the capture; each with both sides,
// on PTX and source, with the stacks of both calls. Asks "replay".
import { button, el, facts, link } from '../core/dom';
import { Stack } from '../core/frames';
import { baseName, brief, clean } from '../core/names';
import { formatDuration } from '../core/time';
import { Panel } from './panel';
import { stackList } from './parts';

interface Side {
	sequence?: number;
	op_id?: number;
	kind?: string;
	name?: string;
	access?: string;
	function?: string;
	line?: number;
	source_file?: string;
	source_line?: number;
	block?: number[];
	thread?: number[];
	stack?: Stack;
	stream?: number;
	call?: string;
	site?: string;
}

interface Finding {
	kind: string;
	space?: string;
	kernel?: string;
	address?: number | string;
	bytes?: number;
	allocation_bytes?: number;
	allocation_name?: string;
	times?: number;
	access?: Side;
	earlier?: Side;
	remedies?: string[];
}

interface Difference {
	from: string;
	op_id?: number;
	address?: number | string;
	bytes?: number;
	expected?: string;
	found?: string;
	expected_value?: string;
	found_value?: string;
	element_type?: string;
	buffer_name?: string;
	operation?: Side;
	stack?: Stack;
}

/* A choice of the order on which the result depends. */
interface Decision {
	kind: string;
	name?: string;
	operation?: string;
	block?: number;
	warp?: number;
	line?: number;
	instead_block?: number;
	instead_warp?: number;
	instead_line?: number;
	done?: Side;
	first_done?: Side; // held: the later operations that ran before it
	last_done?: Side;
	remedies?: string[];
}

interface Result {
	verdict?: string;
	session?: number;
	operations?: number;
	launches?: number;
	replays?: number;
	elapsed_ns?: number;
	findings?: Finding[];
	more_findings?: number;
	difference?: Difference;
	refusal?: { op_id?: number; kind?: string; why?: string; stack?: Stack; operation?: Side };
	checked?: string[];
	schedules?: number;
	seed?: string;
	decisions?: Decision[];
	notes?: string[];
	unsupported?: string[];
}

interface Answer {
	result?: Result;
	progress?: object;
	complaint?: string;
	failed?: boolean;
}

const VERDICTS: { readonly [verdict: string]: string } = { same: 'same results', differs: 'different results', nondeterministic: 'nondeterministic results' };

const KINDS: { readonly [kind: string]: string } = {
	race: 'Race', unwritten: 'Read of unwritten memory', 'out-of-bounds': 'Access out of bounds', stray: 'Access outside of allocations',
	unordered: 'Operations without an order', 'host-changed': 'Host memory changed while the device used it',
};

export class ReplayPanel extends Panel {
	readonly id = 'replay';
	readonly title = 'Replay';
	private readonly result = el('div', { id: 'replay-result' });
	private built = false;
	private runs = 0;
	private readonly stop = button('Stop', () => {
		this.cancel();
		this.result.replaceChildren(el('p', { class: 'dim' }, 'Stopped.'));
	});
	private session: number | undefined; // whose findings are made into elements

	update(): void {
		if (this.built)
			return;
		this.built = true;
		this.stop.disabled = true;
		const run = (title: string, options: object): HTMLButtonElement => button(title, () => void this.run(title, options));
		this.root.replaceChildren(el('p', {}, 'Runs the captured operations again on the virtual GPU. The trace must have been recorded with ',
			el('kbd', {}, '--capture replay'), '.'),
		el('div', { class: 'toolbar' },
			run('Check for races, bounds and order', { executor: 'vgpu', check: ['all'] }),
			run('Compare repeated runs', { executor: 'vgpu', repeat: 2, compare_every: 1 }),
			run('Try 20 other orders', { executor: 'vgpu', schedules: 20 }),
			this.stop), this.result);
	}

	private async run(title: string, options: object): Promise<void> {
		const run = ++this.runs;
		this.stop.disabled = false;
		await this.ask(this.result, title + '\u2026', async (signal) => {
			const answers = await this.model.api.askLines<Answer>('replay', { limit: 50, ...options }, this.trace, signal);
			const nodes: HTMLElement[] = [];
			for (const answer of answers) {
				if (answer.complaint)
					nodes.push(el('p', { class: answer.failed ? 'bad' : 'dim' }, clean(answer.complaint, 600)));
				if (answer.result)
					nodes.push(...this.show(answer.result));
			}
			return nodes.length ? nodes : [el('p', { class: 'dim' }, 'The replay has no result.')];
		});
		if (run === this.runs)
			this.stop.disabled = true;
	}

	private show(result: Result): HTMLElement[] {
		this.session = result.session;
		const found = (result.findings || []).length + (result.more_findings || 0);
		const nodes: HTMLElement[] = [el('p', { class: 'lead' }, 'Session ' + (result.session ?? '') + ': ',
			el('strong', { class: result.verdict === 'same' ? 'good' : 'bad' }, VERDICTS[result.verdict || ''] ||
				'results: ' + clean(result.verdict || 'unknown', 40)), ', ',
			el('strong', { class: found ? 'bad' : 'good' }, found + (found === 1 ? ' finding' : ' findings')), ', ' +
			(result.operations ?? 0) + ' operations' + (result.elapsed_ns ? ' in ' + formatDuration(result.elapsed_ns) : '') + '.')];
		for (const finding of result.findings || [])
			nodes.push(this.finding(finding));
		if (result.more_findings)
			nodes.push(el('p', { class: 'dim' }, 'and ' + result.more_findings + ' more findings'));
		if (result.difference)
			nodes.push(this.difference(result.difference));
		if (result.refusal)
			nodes.push(el('div', { class: 'card' }, el('strong', { class: 'bad' }, 'The replay ended: '),
				clean(result.refusal.why || '', 500), this.side('Operation', result.refusal.operation),
				result.refusal.operation && result.refusal.operation.stack ? undefined : stackList(result.refusal.stack)));
		for (const decision of (result.decisions || []).slice(0, 20))
			nodes.push(this.decision(decision));
		for (const note of [...(result.notes || []), ...(result.unsupported || [])].slice(0, 20))
			nodes.push(el('p', { class: 'dim' }, clean(note, 400)));
		return nodes;
	}

	private finding(finding: Finding): HTMLElement {
		return el('div', { class: 'card', data: { finding: finding.kind } },
			el('strong', { class: 'bad' }, KINDS[finding.kind] || clean(finding.kind, 40)),
			finding.kernel ? ' in ' + brief(finding.kernel, 120) : '',
			facts([
				['Address', finding.address !== undefined ? '0x' + BigInt(finding.address).toString(16) +
					(finding.space === 'shared' ? ' of shared memory' : '') : undefined],
				['Bytes', finding.bytes !== undefined ? String(finding.bytes) : undefined],
				['Memory', finding.allocation_name ? clean(finding.allocation_name, 80) : undefined],
				['Times', finding.times !== undefined ? String(finding.times) : undefined],
			]),
			el('div', { class: 'columns' }, this.side(finding.earlier ? 'The later access' : 'The access', finding.access),
				this.side('The earlier access', withStack(finding.earlier, finding.access))),
			...this.remedies(finding.remedies));
	}

	private remedies(remedies: string[] | undefined): HTMLElement[] {
		return (remedies || []).slice(0, 6).map((remedy) => el('p', { class: 'advice' }, '\u2192 ' + clean(remedy, 400)));
	}

	private side(title: string, side: Side | undefined): HTMLElement | undefined {
		if (!side)
			return undefined;
		const { session } = this;
		return el('section', {}, el('h3', {}, title), facts([
			['Operation', side.op_id !== undefined ? link((side.kind || 'operation') + ' ' + side.op_id, 'Show it', () =>
				void this.shell.goToOperation(side.op_id as number, this.trace, session)) : undefined],
			['Kernel', side.name ? brief(side.name, 120) : undefined],
			['Access', clean(side.access || '', 20)],
			['Source', side.source_file ? clean(baseName(side.source_file) + ':' + (side.source_line ?? '?'), 200) : undefined],
			['PTX line', side.line !== undefined ? String(side.line) : undefined],
			['Block', side.block && side.block.length ? side.block.join(', ') : undefined],
			['Thread', side.thread && side.thread.length ? side.thread.join(', ') : undefined],
			['Stream', side.stream !== undefined ? String(side.stream) : undefined],
			['Called by', clean([side.call, side.site].filter(Boolean).join(' in '), 200)],
		]), side.stack ? el('details', {}, el('summary', {}, 'Stack'), stackList(side.stack)) : undefined);
	}

	private decision(decision: Decision): HTMLElement {
		const place = (block: number | undefined, warp: number | undefined, line: number | undefined): string | undefined =>
			(block === undefined ? undefined : 'block ' + block + (warp === undefined ? '' : ', warp ' + warp) +
				(line === undefined ? '' : ', PTX line ' + line));
		const { done, first_done: first, last_done: last } = decision;
		return el('div', { class: 'card', data: { decision: decision.kind } }, 'The result depends on: ' + clean(decision.kind, 30) + ' of ' +
			brief(decision.name || decision.operation || '?', 100),
		facts([['Ran first', place(decision.block, decision.warp, decision.line)],
			['Instead of', place(decision.instead_block, decision.instead_warp, decision.instead_line)]]),
		el('div', { class: 'columns' }, this.side(first ? 'Ran later' : 'The operation', done && { line: decision.line, ...done }),
			this.side(last && first && last.op_id !== first.op_id ? 'After the operations from' : 'After', first),
			last && first && last.op_id !== first.op_id ? this.side('to', last) : undefined),
		...this.remedies(decision.remedies));
	}

	private difference(difference: Difference): HTMLElement {
		const typed = difference.expected_value !== undefined;
		return el('div', { class: 'card' }, el('strong', { class: 'bad' }, 'First difference from the ' + clean(difference.from, 20)),
			facts([
				['Address', difference.address !== undefined ? '0x' + BigInt(difference.address).toString(16) : undefined],
				['Memory', difference.buffer_name ? clean(difference.buffer_name, 80) : undefined],
				['Expected', clean(typed ? difference.expected_value + ' (' + difference.element_type + ')' : difference.expected || '', 200)],
				['Found', clean(typed ? difference.found_value : difference.found || '', 200)],
			]), this.side('Operation', difference.operation), stackList(difference.stack));
	}
}

/* The answer has the stack of a call once, even if both sides are of that call. */
function withStack(side: Side | undefined, other: Side | undefined): Side | undefined {
	return side && !side.stack && other && side.op_id === other.op_id ? { ...side, stack: other.stack } : side;
}
