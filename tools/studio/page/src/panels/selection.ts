// SPDX-License-Identifier: Apache-2.0
// The selected row: its facts, the call that queued it with arguments and memory, the host stack, its neighbours.
import { button, el, facts, link, nameText, number, table } from '../core/dom';
import { Stack } from '../core/frames';
import { brief, clean, spelled } from '../core/names';
import { formatDuration, formatInstant } from '../core/time';
import { ApiError, Arrow, Row, RowColumns } from '../data/api';
import { Selection } from '../model';
import { Touched } from './arguments';
import { Panel } from './panel';
import { stackList } from './parts';

/* Fields that have a place of their own, or that say nothing to a person. */
const SKIPPED = new Set(['type', 'start_ns', 'end_ns', 'stack', 'name', 'op_id', 'session', 'tid', 'thread_name',
	'grid_x', 'grid_y', 'grid_z', 'block_x', 'block_y', 'block_z', 'cluster_x', 'cluster_y', 'cluster_z', 'cbid', 'channel',
	'channel_type', 'launch_type', 'copy_kind', 'nested_op_id', 'value_type', 'payload_type']);
// Rows that have a time and no duration.
const INSTANTS = new Set(['counter', 'mark', 'sample', 'event', 'alloc', 'free']);
const ADDRESSES = /(^|_)(address|dst|src|handle|event|object|graph_exec|instruction|pool)$/;
const BYTES = /(^|_)bytes(_|$)/;

/* Rows with arguments and memory of a call, and their titles. */
const CAPTURED: { readonly [type: string]: string } = { arguments: 'Arguments', access: 'Memory touched', alloc: 'Allocated',
	free: 'Freed', operation: 'Captured operation' };

interface Neighbour {
	start: number;
	end: number;
	key: number;
	depth: number;
	op: number | string;
	index: number;
}

const WAITS = 12; // that are listed

/* Why an operation or a call waits for another one. */
const EDGES: { readonly [edge: string]: string } = {
	event: 'an event', legacy: 'the legacy stream', sync: 'a wait of the host', engine: 'the engine (inferred)', stream: 'stream order',
	host: 'order of calls',
};

function dimensions(row: Row, what: string): string | undefined {
	if (row[what + '_x'] === undefined || (what === 'cluster' && !row.cluster_x))
		return undefined;
	return [row[what + '_x'], row[what + '_y'], row[what + '_z']].join(' \u00d7 ');
}

function fieldName(key: string): string {
	if (key === 'cpu')
		return 'CPU';
	// The value has its unit.
	return key.charAt(0).toUpperCase() + key.slice(1).replace(/_ns$/, '').replace(/_/g, ' ');
}

function fieldValue(name: string, value: unknown): Node | string {
	if (typeof value === 'boolean')
		return value ? 'yes' : 'no';
	if (name === 'result' && value === 0)
		return 'success';
	if (typeof value === 'number' && BYTES.test(name))
		return number('bytes', value);
	if (typeof value === 'number' && name.endsWith('_ns'))
		return number('ns', value);
	if ((typeof value === 'number' || typeof value === 'string') && ADDRESSES.test(name) && /^\d+$/.test(String(value)))
		return '0x' + BigInt(value).toString(16);
	if (typeof value === 'object')
		return clean(JSON.stringify(value), 500);
	return clean(value, 500);
}

export class SelectionPanel extends Panel {
	readonly id = 'selection';
	readonly title = 'Selection';

	update(): void {
		const { selection } = this.model;
		if (!selection) {
			this.cancel();
			this.root.replaceChildren(el('p', { class: 'dim' },
				'Click a row of the timeline, or choose a lane with the up and down keys and a row with left and right.'));
			return;
		}
		void this.ask(this.root, 'Reading the row\u2026', async (signal) => {
			const { api } = this.model;
			const row = await api.rowAt(selection.lane, selection.start, selection.depth, selection.row, signal).catch((error) => {
				if (error instanceof ApiError && error.status === 404 && selection.op && selection.op !== '0')
					return api.rowOf(selection.op, this.model.traceOf(selection.lane), this.model.lane(selection.lane)?.session, signal);
				throw error;
			});
			return [this.show(row, selection, signal)];
		});
	}

	private show(row: Row, selection: Selection, signal: AbortSignal): HTMLElement {
		const trace = this.model.traceOf(selection.lane);
		const start = this.model.relative(row.start_ns, trace);
		const end = this.model.relative(row.end_ns, trace);
		const name = typeof row.name === 'string' ? row.name :
			[spelled(row.type), row.kind || row.syscall || row.fault || row.reason || ''].join(' ');
		const lane = this.model.lane(selection.lane);
		const main = el('section', { class: 'narrow' });
		main.append(el('h2', { id: 'selected-name' }, brief(name, 200)));
		if (brief(name, 200) !== name)
			main.append(name.length < 160 ? nameText(name) : el('details', {}, el('summary', { class: 'dim' }, clean(name, 100)), nameText(name, 4000)));
		main.append(facts([
			['Type', clean(spelled(row.type), 40)],
			['Duration', INSTANTS.has(row.type) ? undefined : number('ns', end - start)],
			[INSTANTS.has(row.type) ? 'Time' : 'Start', number('at', start, row.start_ns)],
			['End', INSTANTS.has(row.type) ? undefined : number('at', end, row.end_ns)],
			['Lane', lane ? clean(lane.name, 120) : undefined],
			['Thread', row.thread_name || row.tid ? clean([row.thread_name, row.tid].filter(Boolean).join('/'), 80) : undefined],
			['Operation', row.op_id !== undefined ? el('span', { class: 'num', data: { value: String(row.op_id) } },
				String(row.op_id)) : undefined],
			['Slack', this.slack(selection)],
			['Grid', dimensions(row, 'grid')], ['Block', dimensions(row, 'block')], ['Cluster', dimensions(row, 'cluster')],
			...Object.entries(row).filter(([key, value]) => !SKIPPED.has(key) && value !== undefined && value !== null)
				.map(([key, value]) => [fieldName(key), fieldValue(key, value)] as const),
		]));
		main.append(el('div', { class: 'toolbar' },
			button('Zoom to it', () => this.shell.goToSpan(start + this.model.offsetOf(selection.lane),
				end + this.model.offsetOf(selection.lane))),
			button('Measure it', () => {
				const offset = this.model.offsetOf(selection.lane);
				this.model.setSpan([start + offset, Math.max(end, start + 1) + offset]);
				this.shell.open('span');
			}, { title: 'What the devices did meanwhile: busy and idle time, kernels, copies (r)' }),
			lane && lane.kind === 'stream' && row.op_id !== undefined ?
				button('Why the gap before?', () => this.shell.explainGap(row.op_id as number, trace, row.session as number | undefined)) : undefined));
		const stack = el('section', {}, el('h3', {}, 'Host stack'), stackList(row.stack as Stack | undefined));
		const related = el('section');
		const around = el('div');
		const call = el('div');
		related.append(call, around);
		if (row.op_id !== undefined && String(row.op_id) !== '0')
			void this.fill(call, 'Reading the rows of the operation\u2026', (s) => this.related(row, trace, s), signal);
		void this.fill(around, 'Reading neighbours\u2026', (s) => this.neighbours(selection, s), signal);
		return el('div', { class: 'columns' }, main, stack, related);
	}

	/* The row's slack, if the critical path was read. */
	private slack(selection: Selection): Node | string | undefined {
		const ns = this.model.slackOf(selection.lane, selection.start, selection.op);
		return ns === undefined ? undefined : ns ? number('ns', ns) : 'none: it is critical';
	}

	/* All rows of the operation: call, device rows, arguments, memory that it touched. */
	private async related(row: Row, trace: number, signal: AbortSignal): Promise<HTMLElement[]> {
		const { api } = this.model;
		const op = row.op_id as number;
		let from = this.model.relative(row.start_ns, trace);
		let to = this.model.relative(row.end_ns, trace);
		const arrows = await api.arrowsOf(op, trace, row.session as number | undefined, signal).catch(() => ({ arrows: [] }));
		if (!signal.aborted) {
			this.model.arrows = arrows.arrows;
			this.model.emit('view');
		}
		for (const arrow of arrows.arrows) {
			from = Math.min(from, arrow.from_ns, arrow.to_ns);
			to = Math.max(to, arrow.from_ns, arrow.to_ns);
		}
		// The window bounds the reading; calls and device rows of one operation are near each other.
		const margin = 50000000;
		const rows = (await api.askLines<Row>('rows', {
			from: { ns: Math.max(0, Math.floor(from) - margin), from_start: true },
			to: { ns: Math.ceil(to) + margin, from_start: true },
			filter: { first_op: op, last_op: op }, limit: 100,
		}, trace, signal, row.session as number | undefined));
		const result: HTMLElement[] = [];
		const call = rows.find((other) => other.type === 'api');
		if (call && row.type !== 'api') {
			const start = this.model.relative(call.start_ns, trace);
			const enter = this.model.relative(row.start_ns, trace) - this.model.relative(call.end_ns, trace);
			result.push(el('h3', {}, 'Call'), facts([
				['Function', link(clean(call.name, 120), 'Show the call', () => this.goTo(call, trace))],
				['Thread', clean([call.thread_name, call.tid].filter(Boolean).join('/'), 80)],
				['Begun', number('at', start, call.start_ns)],
				['Took', number('ns', this.model.relative(call.end_ns, trace) - start)],
				['From its end to the start', enter >= 0 ? number('ns', enter) : 'began before the call returned'],
				['Result', call.result === 0 ? 'success' : el('span', { class: 'bad' }, clean(call.result, 80))],
			]));
		}
		result.push(...await this.waits(arrows.arrows, row, trace, signal));
		const device = rows.filter((other) => ['kernel', 'memcpy', 'memset', 'sync'].includes(other.type) &&
			(other.type !== row.type || other.start_ns !== row.start_ns));
		if (device.length) {
			result.push(table('Rows of this operation', [
				{ head: 'Row', cell: (other) => link(brief(String(other.name || other.type + ' ' + (other.kind || '')), 80), '',
					() => this.goTo(other, trace)) },
				{ head: 'Start', class: 'number', cell: (other) => formatInstant(this.model.relative(other.start_ns, trace)) },
				{ head: 'Duration', class: 'number', cell: (other) => number('ns', this.model.relative(other.end_ns, trace) -
					this.model.relative(other.start_ns, trace)) },
			], device.slice(0, 10)));
		}
		if (rows.some((other) => other.type in CAPTURED)) {
			const box = el('div', { id: 'touched' });
			result.push(box);
			void this.fill(box, 'Reading arguments and memory\u2026', (s) => this.memory(rows, trace, s), signal);
		}
		return result;
	}

	/* The operations of other lanes that it waited for, and those that waited for it: the arrows as text. */
	private async waits(arrows: Arrow[], row: Row, trace: number, signal: AbortSignal): Promise<HTMLElement[]> {
		const { api } = this.model;
		const session = row.session as number | undefined;
		const found = arrows.filter((arrow) => arrow.edge !== 'launch').slice(0, WAITS);
		const own = String(row.op_id);
		const list = await Promise.all(found.map(async (arrow) => {
			const isCause = String(arrow.op) === own;
			const op = isCause ? arrow.from_op : arrow.op;
			const other = await api.rowOf(op, trace, session, signal).catch((): Row | undefined => undefined);
			return { arrow, isCause, op, name: other ? String(other.name || other.kind || other.type) : 'operation ' + op };
		}));
		if (!list.length)
			return [];
		return [table('Waits', [
			{ head: '', class: 'words', cell: (wait) => (wait.isCause ? 'waited for' : 'waited for it') },
			{ head: 'Operation', cell: (wait) => link(brief(wait.name, 80), wait.name, () => void this.shell.goToOperation(wait.op, trace, session)) },
			{ head: 'Lane', class: 'words', cell: (wait) => clean(this.model.lane(wait.isCause ? wait.arrow.from_lane : wait.arrow.to_lane)?.name || '', 60) },
			{ head: 'By', class: 'words', cell: (wait) => EDGES[wait.arrow.edge] || clean(spelled(wait.arrow.edge), 40) },
			{ head: 'Began after', class: 'number', cell: (wait) => number('ns', Math.max(0, wait.arrow.to_ns - wait.arrow.from_ns)) },
		], list, (wait) => ({ data: { op: String(wait.op), edge: wait.arrow.edge } }))];
	}

	/* What was captured of the operation: its arguments, and the memory that it touched. */
	private async memory(rows: Row[], trace: number, signal: AbortSignal): Promise<HTMLElement[]> {
		const result: HTMLElement[] = [];
		const shown = rows.filter((row) => row.type in CAPTURED);
		const places = shown.filter((row) => row.type === 'access' || (row.type === 'operation' && row.content));
		const touched = new Touched(this.model, this.shell, trace, shown[0].session as number | undefined);
		const kernel = rows.find((row) => row.type === 'kernel');
		if (places.length)
			await touched.read(places[0], signal);
		for (const row of shown) {
			const isAccess = row.type === 'access';
			result.push(el('h3', {}, CAPTURED[row.type]), facts(Object.entries(row)
				.filter(([key]) => !SKIPPED.has(key) && key !== 'context' && key !== 'content' && row[key] !== 0)
				.flatMap(([key, value]) => [[fieldName(key), fieldValue(key, value)] as const,
					[fieldName(key) + ' is in', isAccess && ADDRESSES.test(key) ?
						touched.place(BigInt(value as number | string)) : undefined] as const])));
			if (row.type === 'operation' && row.kind === 'launch' && row.content)
				result.push(...await touched.arguments(row, String((kernel || row).name || ''), signal));
		}
		return result.slice(0, 24);
	}

	private goTo(row: Row, trace: number): void {
		const lane = this.model.laneOfRow(row, trace);
		const start = this.model.relative(row.start_ns, trace);
		const end = this.model.relative(row.end_ns, trace);
		if (!lane)
			return;
		this.model.select({ lane: lane.id, start, end, key: 0, op: (row.op_id as number | undefined) ?? 0, depth: 0 });
		this.shell.goToSpan(start + this.model.offsetOf(lane.id), end + this.model.offsetOf(lane.id), lane.id);
	}

	private async neighbours(selection: Selection, signal: AbortSignal): Promise<HTMLElement[]> {
		const { api } = this.model;
		const near = async (from: number, to: number): Promise<RowColumns> =>
			api.rows(selection.lane, Math.max(0, from), to, 400, 0, signal);
		const width = Math.max(selection.end - selection.start, 100000);
		let before: RowColumns | undefined;
		for (let w = width; w < width * 1e4; w *= 16) {
			before = await near(selection.start - w, selection.start);
			if (before.start.some((start) => start < selection.start) || selection.start - w <= 0)
				break;
		}
		const after = await near(selection.start, this.model.view.duration + 1);
		const items: Neighbour[] = [];
		const collect = (rows: RowColumns, wanted: (start: number, depth: number) => boolean): void =>
			rows.start.forEach((start, index) => {
				if (wanted(start, rows.depth[index]))
					items.push({ start, end: rows.end[index], key: rows.key[index], depth: rows.depth[index], op: rows.op[index], index });
			});
		if (before && !before.more)
			collect(before, (start) => start < selection.start);
		items.splice(0, Math.max(0, items.length - 4));
		const n = items.length;
		collect(after, (start, depth) => start >= selection.start && !(start === selection.start && depth < selection.depth));
		items.splice(n + 5);
		const name = (key: number): string => this.model.nameOf(selection.lane, key).short;
		items.forEach((item) => name(item.key));
		this.model.names.flush();
		// Names may be on their way.
		for (let i = 0; i < 20 && items.some((item) => name(item.key) === ''); i++)
			await new Promise((resolve) => setTimeout(resolve, 50));
		return [table('Rows around it', [
			{ head: 'Row', cell: (item: Neighbour) => item.start === selection.start && item.depth === selection.depth ?
				el('strong', {}, name(item.key) || '?') : link(name(item.key) || '?', '', () => this.pick(selection.lane, item)) },
			{ head: 'After', class: 'number', cell: (item) => {
				const apart = item.start - selection.start;
				return (apart < 0 ? '\u2212' : '+') + formatDuration(Math.abs(apart));
			} },
			...(items.some((item) => item.end > item.start) ?
				[{ head: 'Duration', class: 'number', cell: (item: Neighbour) => number('ns', item.end - item.start) }] : []),
		], items)];
	}

	private pick(lane: number, item: { start: number; end: number; key: number; depth: number; op: number | string }): void {
		this.model.select({ lane, start: item.start, end: item.end, key: item.key, op: item.op, depth: item.depth });
		const offset = this.model.offsetOf(lane);
		this.model.reveal(item.start + offset, item.end + offset);
	}
}
