// SPDX-License-Identifier: Apache-2.0
// The state of devices, streams and threads at the cursor's instant: what waits, since when, because of whom. Asks "state".
import { el, facts, link, number, table } from '../core/dom';
import { siteOf, Stack } from '../core/frames';
import { Integer } from '../core/json';
import { brief, clean, spelled } from '../core/names';
import { formatInstant } from '../core/time';
import { LaneInfo, isAbort } from '../data/api';
import { Panel } from './panel';
import { causeList, causeText, damageNote, GapPart } from './parts';
import { rangesAt } from './ranges';

interface Operation {
	state: string;
	since_ns?: number;
	waits_for?: string;
	waits_for_op_id?: number;
	type: string;
	name?: string;
	session?: number;
	op_id: number;
	call_ns?: number;
	start_ns?: number;
	end_ns?: number;
	device?: number;
	stream?: number;
	tid?: number;
	thread_name?: string;
	unsure?: string[];
	stack?: Stack;
}

interface Near {
	session?: number;
	type: string;
	name?: string;
	op_id: number;
	device?: number;
	stream?: number;
	start_ns: number;
	end_ns: number;
}

interface StateAnswer {
	at_ns: number;
	devices?: Array<{ session?: number; device: number; state: string; kernels: number; copies: number; sets: number; pending: number;
		allocated_bytes: number }>;
	streams?: Array<{ session?: number; device?: number; stream: number; state: string; running: number; pending: number }>;
	operations?: Operation[];
	threads?: Array<{ session?: number; tid: number; thread_name?: string; call: string; op_id?: number; since_ns: number; until_ns?: number;
		blocked?: string; blocked_stream?: number; waits_for_op_id?: number }>;
	events?: unknown[];
	allocated_bytes?: number;
	allocations?: unknown[];
	before?: Near;
	after?: Near;
	damaged?: boolean;
}

const WAITS: { readonly [kind: string]: string } = {
	stream: 'the operation before it in its stream', event: 'an event', legacy_stream: 'the legacy stream',
	host: 'the host', engine: 'an engine that another operation occupies (inferred)',
};

const BLOCKED: { readonly [kind: string]: string } = {
	event_synchronize: 'an event', stream_wait_event: 'an event', stream_synchronize: 'a stream', context_synchronize: 'the device',
};

const STATES: { readonly [state: string]: string } = {
	running: 'runs', waiting: 'waits', queued: 'is queued', dispatch_pending: 'is on its way to the device',
	unknown: 'unknown: its device row is missing', idle: 'idle',
};

const STREAMS = 256; // listed, those with an operation first
const IDLE = 12;     // idle streams that are explained
const IDLE_LARGE = 4; // of a large trace
const AHEAD_NS = 5e9; // in a large trace, a stream's next operation is looked for so far ahead

/* Why a stream is idle. */
interface Idle {
	lane: LaneInfo;
	op: Integer;
	start_ns: number;
	end_ns: number;
	type: string;
	name?: string;
	tid?: number;
	thread_name?: string;
	parts: GapPart[];
}

export class StatePanel extends Panel {
	readonly id = 'state';
	readonly title = 'State';

	update(): void {
		const at = this.cursor;
		if (at === undefined) {
			this.cancel();
			this.root.replaceChildren(el('p', { class: 'dim' }, 'Click the timeline to set the cursor, or type a time in the search field.'));
			return;
		}
		const after = this.afterEnd(at);
		if (after) {
			this.cancel();
			this.root.replaceChildren(after);
			return;
		}
		void this.ask(this.root, 'Reading the state at ' + formatInstant(at) + '\u2026', async (signal) => {
			const answer = await this.model.api.ask<StateAnswer>('state', { at: { ns: at, from_start: true }, stacks: true }, this.trace, signal);
			return this.show(answer, at, signal);
		});
	}

	private op(op: number | undefined, session: number | undefined): HTMLElement | undefined {
		return op === undefined ? undefined : link('operation ' + op, 'Show it', () => void this.shell.goToOperation(op, this.trace, session));
	}

	private since(ns: number | undefined, at: number): Node | string {
		if (ns === undefined)
			return '';
		const since = this.model.relative(ns, this.trace);
		return el('span', {}, number('ns', at - since), ' ', el('span', { class: 'dim num' }, 'since ' + formatInstant(since)));
	}

	private show(answer: StateAnswer, at: number, signal: AbortSignal): Array<HTMLElement | undefined> {
		const heading = el('p', { class: 'lead' }, 'State at ', number('at', at, answer.at_ns));
		const columns = el('div', { class: 'columns' });
		const left = el('section');
		left.append(table('Devices', [
			{ head: 'Device', cell: (device) => 'GPU ' + device.device + this.process(device.session) },
			{ head: 'State', class: 'short', cell: (device) => clean(device.state, 30) },
			{ head: 'Kernels', class: 'number', cell: (device) => number('count', device.kernels) },
			{ head: 'Copies, sets', class: 'number', cell: (device) => number('count', device.copies + device.sets) },
			{ head: 'Pending', class: 'number', cell: (device) => number('count', device.pending) },
			{ head: 'Allocated', class: 'number', cell: (device) => number('bytes', device.allocated_bytes) },
		], answer.devices || []));
		left.append(this.idle(answer, at, signal), this.streams(answer, at));
		const right = el('section', { class: 'broad' });
		if (answer.before || answer.after)
			right.append(this.near(answer, at, signal));
		else
			right.append(this.operations(answer, at));
		const ranges = el('div');
		void this.fill(ranges, '', async (s) => [await rangesAt(this.shell, this.trace, at, 'Ranges', (session) => this.process(session), s)], signal);
		left.append(this.threads(answer, at, ranges));
		columns.append(left, right);
		return [damageNote(answer), heading, columns];
	}

	private get lanes(): LaneInfo[] {
		return this.model.trace.lanes.filter((lane) => lane.kind === 'stream' && (lane.trace || 0) === this.trace);
	}

	/* Since when streams are idle, until which operation, and why. A stream without a later operation is left out. */
	private idle(answer: StateAnswer, at: number, signal: AbortSignal): HTMLElement {
		const busy = new Set((answer.streams || []).map((stream) => [stream.session, stream.device, stream.stream].join('/')));
		const lanes = this.lanes.filter((lane) => lane.rows > 0 && !busy.has([lane.session, lane.device, lane.stream].join('/')));
		const place = el('div', { id: 'idle-streams' });
		const most = this.model.isLarge(this.trace) ? IDLE_LARGE : IDLE;
		if (!lanes.length)
			return place;
		void this.fill(place, 'Looking for what idle streams wait for\u2026', async (s) => {
			const found: Idle[] = [];
			for (const lane of lanes.slice(0, most)) {
				const one = await this.nextOf(lane, at, s);
				if (one)
					found.push(one);
			}
			if (!found.length)
				return [];
			return [table('Idle streams', [
				{ head: 'Stream', class: this.streamClass ? 'short' : 'words', cell: (one: Idle) => clean(one.lane.name, 60) + this.process(one.lane.session) },
				{ head: 'For', class: 'number', cell: (one) => number('ns', at - this.model.relative(one.start_ns, this.trace)) },
				{ head: 'Mostly because', class: 'words', cell: (one) => link(one.parts[0] ? clean(causeText(one.parts[0]), 160) : 'unknown', 'Explain this gap',
					() => this.shell.explainGap(one.op, this.trace, one.lane.session)) },
				{ head: 'Until', cell: (one) => el('span', {}, link(brief(one.name || one.type, 60), one.name || '',
					() => void this.shell.goToOperation(one.op, this.trace, one.lane.session)), el('span', { class: 'dim' },
					one.tid !== undefined ? ' by ' + clean((one.thread_name || 'thread') + '/' + one.tid, 60) : '')) },
			], found, (one) => ({ data: { lane: one.lane.id, op: String(one.op) } })),
			lanes.length > most ? el('p', { class: 'dim' }, 'of the first ' + most + ' of ' + lanes.length + ' idle streams') : undefined];
		}, signal);
		return place;
	}

	/* The next operation of a stream, with the gap before it. */
	private async nextOf(lane: LaneInfo, at: number, signal: AbortSignal): Promise<Idle | undefined> {
		const { api, view } = this.model;
		const end = this.model.isLarge(this.trace) ? Math.min(view.duration, at + AHEAD_NS) : view.duration;
		const rows = await api.rows(lane.id, at, end + 1, 2, 0, signal);
		const next = rows.start.findIndex((start) => start > at);
		if (next < 0 || String(rows.op[next]) === '0')
			return undefined;
		const op = rows.op[next];
		const gaps = await api.ask<{ longest?: Array<Omit<Idle, 'lane' | 'op'>> }>('gaps', { op_id: Number(op), stacks: false }, this.trace, signal,
			lane.session).catch((error): { longest?: undefined } => {
			if (isAbort(error))
				throw error;
			return {};
		});
		const gap = (gaps.longest || [])[0];
		return gap && { ...gap, lane, op };
	}

	/* Every stream of the trace; those without an operation are idle. */
	private streams(answer: StateAnswer, at: number): HTMLElement {
		const { lanes } = this;
		// Each process numbers its devices and streams by itself.
		const several = new Set(lanes.map((lane) => lane.session)).size > 1;
		const keyOf = (of: { session?: number; device?: number; stream?: number }): string =>
			(several ? of.session + '/' : '') + of.device + '/' + of.stream;
		const busy = new Map((answer.streams || []).map((stream) => [keyOf(stream), stream]));
		const first = new Map<string, Operation>();
		for (const operation of answer.operations || []) {
			if (!first.has(keyOf(operation)))
				first.set(keyOf(operation), operation);
		}
		lanes.sort((a, b) => Number(busy.has(keyOf(b))) - Number(busy.has(keyOf(a))));
		const box = el('div');
		box.append(table('Streams', [
			{ head: 'Stream', class: 'words', cell: (lane) => clean(lane.name, 60) + this.process(lane.session) },
			{ head: 'State', class: 'words', cell: (lane) => {
				const stream = busy.get(keyOf(lane));
				const operation = first.get(keyOf(lane));
				if (!stream)
					return el('span', { class: 'dim' }, 'idle');
				const text = STATES[stream.state] || stream.state;
				if (!operation || !operation.waits_for)
					return text;
				return el('span', {}, text + ' for ', WAITS[operation.waits_for] || clean(operation.waits_for, 40), operation.waits_for_op_id === undefined ? '' : ': ',
					this.op(operation.waits_for_op_id, operation.session));
			} },
			{ head: 'For', cell: (lane) => {
				const operation = first.get(keyOf(lane));
				return operation ? this.since(operation.since_ns, at) : '';
			} },
			{ head: 'Pending', class: 'number', cell: (lane) => {
				const stream = busy.get(keyOf(lane));
				return stream ? number('count', stream.pending) : '';
			} },
		], lanes.slice(0, STREAMS), (lane) => ({ data: { lane: lane.id } })));
		if (lanes.length > STREAMS)
			box.append(el('p', { class: 'dim' }, 'and ' + (lanes.length - STREAMS) + ' more streams'));
		return box;
	}

	private operations(answer: StateAnswer, at: number): HTMLElement {
		const list = answer.operations || [];
		if (!list.length)
			return el('p', { class: 'dim' }, 'No operation was queued or running.');
		return table('Operations, ' + list.length, [
			{ head: 'Operation', class: 'wide', cell: (o) => link(brief(o.name || o.type, 100), o.name || '', () =>
				void this.shell.goToOperation(o.op_id, this.trace, o.session)) },
			{ head: 'State', class: 'words', cell: (o) => el('span', {}, STATES[o.state] || o.state, o.waits_for ? ' for ' : '',
				o.waits_for ? WAITS[o.waits_for] || clean(o.waits_for, 40) : '', o.waits_for_op_id === undefined ? '' : ': ', this.op(o.waits_for_op_id, o.session)) },
			{ head: 'For', class: 'number', cell: (o) => (o.since_ns === undefined ? '' : number('ns', at - this.model.relative(o.since_ns, this.trace))) },
			{ head: 'Stream', class: this.streamClass, cell: (o) => String(o.stream ?? '') + this.process(o.session) },
			{ head: 'Queued by', cell: (o) => clean(siteOf(o.stack) || (o.thread_name || '') + (o.tid ? '/' + o.tid : ''), 120) },
		], list.slice(0, 60));
	}

	private blocked(kind: string, stream: number | undefined): string {
		if (kind === 'stream_synchronize' && stream !== undefined)
			return 'stream ' + stream;
		return BLOCKED[kind] || clean(spelled(kind), 60);
	}

	private threads(answer: StateAnswer, at: number, ranges: HTMLElement): HTMLElement {
		const list = answer.threads || [];
		const box = el('div');
		if (list.length) {
			box.append(table('Threads in a call', [
				{ head: 'Thread', class: 'words', cell: (t) => clean((t.thread_name || '') + '/' + t.tid, 60) },
				{ head: 'Call', class: 'words', cell: (t) => (t.op_id ? link(clean(t.call, 80), 'Show the call', () => void this.shell.goToOperation(t.op_id as number, this.trace, t.session)) :
					clean(t.call, 80)) },
				{ head: 'For', cell: (t) => this.since(t.since_ns, at) },
				{ head: 'Waits for', class: 'words', cell: (t) => (t.blocked ? el('span', {}, this.blocked(t.blocked, t.blocked_stream), t.waits_for_op_id === undefined ? '' : ': ',
					this.op(t.waits_for_op_id, t.session)) : '') },
			], list.slice(0, 60)));
		} else {
			box.append(el('p', { class: 'dim' }, 'No thread was in a call.'));
		}
		box.append(ranges, facts([
			['Allocated', number('bytes', answer.allocated_bytes || 0)],
			['Allocations', number('count', (answer.allocations || []).length)],
			['Events not reached', number('count', (answer.events || []).length)],
		]), link('Who holds the memory?', 'Memory at the cursor', () => this.shell.open('memory', true)));
		return box;
	}

	/* No operation runs: what ran before and what comes next, and why not now. */
	private near(answer: StateAnswer, at: number, signal: AbortSignal): HTMLElement {
		const { before, after } = answer;
		const box = el('div', {}, el('h3', {}, before ? 'No operation runs' : 'No operation has run yet'));
		const item = (near: Near | undefined, title: string, apart: number): readonly [string, Node | undefined] =>
			[title, near && el('span', {}, link(brief(near.name || near.type, 80), near.name || '',
				() => void this.shell.goToOperation(near.op_id, this.trace, near.session)), el('span', { class: 'dim' }, ', '), number('ns', apart),
			title === 'Next' ? ' later' : ' earlier')];
		box.append(facts([
			item(before, 'Before', before ? at - this.model.relative(before.end_ns, this.trace) : 0),
			item(after, 'Next', after ? this.model.relative(after.start_ns, this.trace) - at : 0),
		]));
		if (answer.operations && answer.operations.length)
			box.append(this.operations(answer, at));
		const call = (answer.threads || [])[0];
		if (!before && call)
			box.append(el('p', {}, 'The GPU has had no work yet; the host is in ' + clean(call.call, 80) + '.'));
		if (!after)
			box.append(el('p', {}, 'No operation comes after this time.'));
		if (after && before) {
			const why = el('div');
			box.append(el('h3', {}, 'Why the GPU stands still until ' + brief(after.name || after.type, 60) +
				(after.stream !== undefined ? ' in stream ' + after.stream : '')), why,
				link('Show the whole gap', 'Its causes and the stack of the call that ends it', () => this.shell.explainGap(after.op_id, this.trace, after.session)));
			void this.fill(why, 'Looking for the causes\u2026', async (s) => {
				const gaps = await this.model.api.ask<{ longest?: Array<{ parts: GapPart[]; start_ns: number; end_ns: number }> }>('gaps',
					{ op_id: after.op_id, stacks: false }, this.trace, s, after.session);
				const gap = (gaps.longest || [])[0];
				if (!gap)
					return [el('p', { class: 'dim' }, 'The operation that comes next is the first of its stream.')];
				return [causeList(gap.parts, gap.parts.reduce((sum, part) => sum + part.ns, 0),
					(op) => void this.shell.goToOperation(op, this.trace, after.session), 6)];
			}, signal);
		}
		return box;
	}
}
