// SPDX-License-Identifier: Apache-2.0
// Gaps: the times in which a stream had no operation, with causes. Each is a link that moves the view. Asks "gaps".
import { el, link, nameText, number, table } from '../core/dom';
import { Stack } from '../core/frames';
import { Integer } from '../core/json';
import { brief, clean } from '../core/names';
import { formatDuration, formatInstant } from '../core/time';
import { Panel } from './panel';
import { causeList, CAUSES, causeText, damageNote, GapPart, shares, stackList } from './parts';
import { rangesAt } from './ranges';

interface Gap {
	start_ns: number;
	end_ns: number;
	session?: number;
	device?: number;
	stream?: number;
	before_op_id?: number;
	op_id: number;
	type: string;
	name?: string;
	call?: string;
	call_ns?: number;
	call_end_ns?: number;
	tid?: number;
	thread_name?: string;
	parts: GapPart[];
	unsure?: string[];
	stack?: Stack;
}

interface GapsAnswer {
	least_ns: number;
	gaps: number;
	gaps_ns: number;
	streams?: Array<{ stream: number; device: number; gaps: number; gaps_ns: number; busy_ns: number; span_ns: number;
		causes?: GapPart[] }>;
	parts?: GapPart[];
	longest?: Gap[];
	damaged?: boolean;
	not_looked_at?: number;
	not_looked_at_ns?: number;
}

const LISTED = 200;

export class GapsPanel extends Panel {
	readonly id = 'gaps';
	readonly title = 'Gaps';
	private op: Integer | undefined; // explained now
	private readonly one = el('div', { id: 'gap' });
	private readonly all = el('div');
	private asked = false;

	override readonly ofWhole = true;

	override forget(): void {
		this.asked = false;
		super.forget();
	}

	update(): void {
		if (!this.root.contains(this.one))
			this.root.replaceChildren(this.one, this.all);
		if (!this.asked) {
			this.asked = true;
			void this.askAll();
		}
	}

	/* Explains the gap before an operation of a session. */
	explain(op: Integer, session: number | undefined): void {
		const { trace } = this;
		this.op = op;
		if (!this.root.contains(this.one))
			this.root.replaceChildren(this.one, this.all);
		void this.ask(this.one, 'Looking for the causes of the gap before operation ' + op + '\u2026', async (signal) => {
			const answer = await this.model.api.ask<GapsAnswer>('gaps', { op_id: Number(op), stacks: true }, trace, signal, session);
			const gap = (answer.longest || [])[0];
			if (!gap)
				return [el('p', {}, 'There is no gap before this operation: another one ran until it began.')];
			const start = this.model.relative(gap.start_ns, trace);
			const end = this.model.relative(gap.end_ns, trace);
			const lane = this.model.findLane(gap.session, gap.device, gap.stream, undefined, trace);
			const offset = this.model.offsetOfTrace(trace);
			this.model.setSpan([start + offset, end + offset]);
			this.model.reveal(start + offset, end + offset);
			const longest = gap.parts[0];
			this.shell.announce('Gap of ' + formatDuration(end - start) + (longest ? ': ' + causeText(longest) : ''));
			return [this.details(gap, start, end, lane ? lane.name : '', signal)];
		});
	}

	private details(gap: Gap, start: number, end: number, lane: string, signal: AbortSignal): HTMLElement {
		const longest = gap.parts[0];
		const ranges = el('div');
		void this.fill(ranges, '', async (s) => [await rangesAt(this.shell, this.trace, Math.floor((start + end) / 2), 'Ranges in the middle of the gap',
			(session) => this.process(session), s)], signal);
		return el('div', { class: 'card', data: { gap: gap.op_id } },
			el('h2', {}, 'Gap of ', number('ns', end - start), ' in ' + clean(lane || 'stream ' + gap.stream, 60) + this.process(gap.session)),
			el('p', { class: 'lead', id: 'gap-cause' }, longest ? 'Mostly: ' + clean(causeText(longest), 300) + ' (' +
				formatDuration(longest.ns) + ').' : 'Its cause is unknown.'),
			el('div', { class: 'columns' },
				el('section', {}, causeList(gap.parts, end - start, (op) => void this.shell.goToOperation(op, this.trace, gap.session)),
					el('p', {}, 'From ', formatInstant(start), ' to ', formatInstant(end), '. It ends with ',
						link(brief(gap.name || gap.type, 100), 'Show the operation', () =>
							void this.shell.goToOperation(gap.op_id, this.trace, gap.session)),
						gap.call ? ', queued by ' + clean(gap.call, 80) + ' in ' + clean((gap.thread_name || 'thread') + '/' +
							(gap.tid ?? '?'), 60) : '', '.'),
					gap.unsure && gap.unsure.length ? el('p', { class: 'dim' }, 'Not sure: ' + clean(gap.unsure.join(', '), 200)) :
						undefined),
				el('section', {}, el('h3', {}, 'Stack of the call that ended it'), stackList(gap.stack), ranges)));
	}

	private askAll(): Promise<void> {
		const controller = new AbortController();
		return this.fill(this.all, 'Looking for gaps\u2026', async (signal) => {
			const answer = await this.model.api.ask<GapsAnswer>('gaps', { limit: LISTED, stacks: false }, this.trace, signal);
			return this.show(answer);
		}, controller.signal);
	}

	private show(answer: GapsAnswer): Array<HTMLElement | undefined> {
		const sums = new Map<string, number>();
		for (const part of answer.parts || [])
			sums.set(part.cause, (sums.get(part.cause) || 0) + part.ns);
		const parts = [...sums].sort((a, b) => b[1] - a[1]);
		const longest = answer.longest || [];
		return [
			damageNote(answer),
			el('p', { class: 'lead' }, number('count', answer.gaps), answer.gaps === 1 ? ' gap of at least ' : ' gaps of at least ', number('ns', answer.least_ns), ', ',
				number('ns', answer.gaps_ns), ' in all.'),
			answer.not_looked_at ? el('p', { id: 'not-explained' }, number('count', answer.not_looked_at), ' gaps, ',
				number('ns', answer.not_looked_at_ns), ', were too many to explain: the causes are those of the longer ones.') : undefined,
			el('div', { class: 'columns' },
				el('section', { class: 'broad' }, table('The longest gaps', [
					{ head: 'Length', class: 'number', cell: (gap: Gap) => number('ns', this.model.relative(gap.end_ns, this.trace) -
						this.model.relative(gap.start_ns, this.trace)) },
					{ head: 'Begins', class: 'number', cell: (gap) => formatInstant(this.model.relative(gap.start_ns, this.trace)) },
					{ head: 'Stream', class: this.streamClass, cell: (gap) => String(gap.stream ?? '') + this.process(gap.session) },
					{ head: 'Mostly because', cell: (gap) => link(gap.parts[0] ? clean(causeText(gap.parts[0]), 160) : 'unknown',
						'Explain this gap', () => this.shell.explainGap(gap.op_id, this.trace, gap.session)) },
					{ head: 'Ends with', cell: (gap) => nameText(brief(gap.name || gap.type, 60)) },
				], longest.slice(0, 40), (gap) => ({ data: { op: gap.op_id, session: gap.session ?? '' } }))),
				!parts.length ? undefined : el('section', {}, el('h3', {}, 'By cause, all gaps'), shares('Gaps by cause', parts, answer.gaps_ns, CAUSES),
					el('h3', {}, 'By thread and call'),
					causeList(answer.parts || [], answer.gaps_ns, (op) => void this.shell.goToOperation(op, this.trace, undefined)))),
		];
	}

	/* The operation whose gap is explained: for links. */
	get explained(): Integer | undefined {
		return this.op;
	}
}
