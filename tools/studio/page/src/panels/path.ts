// SPDX-License-Identifier: Apache-2.0
// The critical path: what the duration consists of, drawn over the lanes, and the slack of each row. Asks "graph". A trace with many
// operations is read for the view alone.
import { button, el, link, number, table } from '../core/dom';
import { Integer } from '../core/json';
import { brief, clean } from '../core/names';
import { Steps } from '../core/steps';
import { formatCount, formatDuration, formatInstant } from '../core/time';
import { ApiError, LaneInfo } from '../data/api';
import { Slack } from '../model';
import { Panel } from './panel';
import { damageNote, shares } from './parts';

interface Line {
	type: 'node' | 'edge' | 'step' | 'summary';
	part?: string;
	kind?: string;
	of?: string;
	start_ns: Integer;
	end_ns: Integer;
	name?: string;
	session?: number;
	op_id?: Integer;
	tid?: number;
	device?: number;
	stream?: number;
	slack_ns?: number;
	critical?: boolean;
	parts?: Array<{ part: string; ns: number; steps: number }>;
	model_clock?: boolean;
	damaged?: boolean;
}

interface Step {
	start: number;
	end: number;
	part: string;
	name: string;
}

interface Row {
	lane: number;
	slack: Slack;
	name: string;
	stream: number | undefined;
}

interface Found {
	steps: number;
	longest: Step[];
	path: Steps;
	rows: Row[]; // operations with the least slack
	summary?: Line;
}

/* Parts of the path, in the words of `tsctl graph`. */
const PARTS: { readonly [part: string]: string } = {
	compute: 'kernel or memory set', copy: 'copy', launch_latency: 'from its call to its start', wait: 'after its dependency',
	call: 'in a call, not waiting', host_gap: 'between two calls', unknown: 'not recorded',
};

const PATH_OPERATIONS = 100000; // a path through so many operations is read: some 20 MB of answer
const SLACK_OPERATIONS = 20000; // slack of all rows is read for so many, otherwise that of the rows in view
const LISTED = 40;
const KEPT = 4000;              // of a list that is sorted at its end

export class PathPanel extends Panel {
	readonly id = 'path';
	readonly title = 'Critical path';
	private readonly place = el('div');
	private asked = false;
	private session: number | undefined; // whose path and slack are shown; undefined: those of all processes together

	override readonly ofWhole = true;

	override forget(): void {
		this.asked = false;
		super.forget();
	}

	update(): void {
		if (this.asked)
			return;
		this.asked = true;
		this.root.replaceChildren(...this.choice(), this.place);
		this.read();
	}

	/* With several processes: whose path is shown. */
	private choice(): HTMLElement[] {
		const processes = this.model.trace.lanes.filter((lane) => lane.kind === 'process' && (lane.trace || 0) === this.trace);
		if (processes.length < 2)
			return [];
		const option = (value: string, text: string): HTMLOptionElement => {
			const made = el('option', {}, text);
			made.value = value;
			return made;
		};
		const select = el('select', { id: 'path-session' }, option('', 'all processes together'),
			...processes.map((lane) => option(String(lane.session), clean(lane.name, 80))));
		select.value = String(this.session ?? '');
		select.addEventListener('change', () => {
			this.session = select.value ? Number(select.value) : undefined;
			this.read();
		});
		return [el('div', { class: 'toolbar' }, el('label', {}, 'Latest end of ', select))];
	}

	private read(): void {
		void this.ask(this.place, 'Looking for the critical path\u2026', (signal) => this.find(signal));
	}

	private async find(signal: AbortSignal): Promise<Array<HTMLElement | undefined>> {
		const lanes = this.model.trace.lanes.filter((lane) => this.isShown(lane));
		const all = lanes.reduce((sum, lane) => sum + (lane.kind === 'device' ? lane.rows : 0), 0);
		let operations = all;
		let window: { from?: object; to?: object } = {};
		let [from, to] = [0, this.model.view.duration];
		if (all > PATH_OPERATIONS) {
			[from, to] = this.window();
			window = this.moments(from, to);
			const answer = await this.model.api.ask<{ devices?: Array<{ operations: number }> }>('timeline', { ...window, parts: 1 },
				this.trace, signal, this.session);
			const inView = (answer.devices || []).reduce((sum, device) => sum + device.operations, 0);
			if (inView > PATH_OPERATIONS)
				return [this.tooMany(inView, from, to)];
			operations = inView;
		}
		const withSlack = operations <= SLACK_OPERATIONS;
		const found = await this.lines(window, !withSlack, signal);
		const part = window.from ? [from, to] as [number, number] : undefined;
		const more = withSlack || signal.aborted ? undefined : await this.slackInView(found, part, signal);
		return this.show(found, part, more, all);
	}

	private isShown(lane: LaneInfo): boolean {
		return (lane.trace || 0) === this.trace && (this.session === undefined || lane.session === this.session);
	}

	/* The slack of the rows in view, of a long trace. Returns a line if it cannot be read. */
	private async slackInView(found: Found, part: [number, number] | undefined, signal: AbortSignal): Promise<string | undefined> {
		const lanes = this.model.trace.lanes.filter((lane) => this.isShown(lane) && lane.rows > 0 &&
			(lane.kind === 'stream' || lane.kind === 'thread')).sort((a, b) => b.rows - a.rows).slice(0, 64).map((lane) => lane.id);
		const [from, to] = this.window();
		try {
			const { rows } = await this.model.api.slack(lanes, from, to, part, this.session, signal);
			rows.lane.forEach((lane, i) => {
				if (rows.kind[i] === 'return')
					return;
				const slack: Slack = { start: rows.start[i], end: rows.end[i], ns: rows.slack[i], op: rows.op[i] };
				const list = this.model.slack.get(lane);
				if (list)
					list.push(slack);
				else
					this.model.slack.set(lane, [slack]);
				if (rows.kind[i] === 'operation')
					found.rows.push({ lane, slack, name: '', stream: this.model.lane(lane)?.stream });
			});
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 400)
				throw error;
			return 'Slack: ' + error.message;
		}
		for (const list of this.model.slack.values())
			list.sort((a, b) => a.start - b.start);
		found.rows = found.rows.sort((a, b) => a.slack.ns - b.slack.ns).slice(0, LISTED);
		for (let i = 0; i < found.rows.length && !signal.aborted; i += 6) {
			await Promise.all(found.rows.slice(i, i + 6).map(async (row) => {
				const answer = await this.model.api.rowOf(row.slack.op, this.trace, this.model.lane(row.lane)?.session, signal).catch(() => undefined);
				row.name = answer ? String(answer.name || answer.type) : 'operation ' + row.slack.op;
			}));
		}
		this.model.emit('overlay');
		return undefined;
	}

	/* The chain of steps, and the slack of each row unless `pathOnly`. */
	private async lines(window: object, pathOnly: boolean, signal: AbortSignal): Promise<Found> {
		const found: Found = { steps: 0, longest: [], path: new Steps(), rows: [] };
		const slack = new Map<number, Slack[]>();
		let shortest = -1;
		const trim = (list: Step[]): Step[] => list.sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, LISTED);
		const trimRows = (list: Row[]): Row[] => list.sort((a, b) => a.slack.ns - b.slack.ns).slice(0, 200);
		await this.model.api.eachLine<Line>('graph', { ...window, path: pathOnly }, this.trace, this.session, signal, (line) => {
			if (line.type === 'summary') {
				found.summary = line;
				return;
			}
			if (line.type === 'edge' || line.kind === 'return')
				return;
			const start = this.model.relative(line.start_ns, this.trace);
			const end = this.model.relative(line.end_ns, this.trace);
			const lane = this.laneOf(line);
			if (line.type === 'step') {
				found.steps++;
				if (end - start > shortest)
					found.longest.push({ start, end, part: line.part || 'unknown', name: line.name || line.part || '?' });
				if (found.longest.length > 10 * LISTED) {
					found.longest = trim(found.longest);
					shortest = found.longest[LISTED - 1].end - found.longest[LISTED - 1].start;
				}
				if (lane !== undefined)
					found.path.push(lane, start, end, line.part || 'unknown');
			} else if (lane !== undefined) {
				const row: Row = { lane, slack: { start, end, ns: line.slack_ns || 0, op: line.op_id ?? 0 },
					name: line.name || line.of || '?', stream: line.stream };
				const list = slack.get(lane);
				if (list)
					list.push(row.slack);
				else
					slack.set(lane, [row.slack]);
				if (line.kind === 'operation')
					found.rows.push(row);
				if (found.rows.length > KEPT)
					found.rows = trimRows(found.rows);
			}
		});
		found.longest = trim(found.longest);
		found.rows = trimRows(found.rows);
		if (signal.aborted)
			return found;
		this.model.paths[this.trace] = found.path;
		for (const lane of [...this.model.slack.keys()]) {
			if (this.model.traceOf(lane) === this.trace)
				this.model.slack.delete(lane);
		}
		for (const [lane, list] of slack)
			this.model.slack.set(lane, list.sort((a, b) => a.start - b.start));
		this.model.emit('overlay');
		return found;
	}

	/* The lane of a node or a step: the stream of what ran on the device, otherwise the thread. */
	private laneOf(line: Line): number | undefined {
		const onDevice = line.stream !== undefined && (line.type === 'node' ? line.kind === 'operation' :
			line.part === 'compute' || line.part === 'copy');
		const lane = onDevice ? this.model.findLane(line.session, line.device, line.stream, undefined, this.trace) :
			this.model.findLane(line.session, line.device, undefined, line.tid, this.trace, 'api') ||
			this.model.findLane(line.session, line.device, line.stream, undefined, this.trace);
		return lane && lane.id;
	}

	private tooMany(operations: number, from: number, to: number): HTMLElement {
		const part = (to - from) * PATH_OPERATIONS / operations / 2;
		const middle = this.cursor !== undefined && this.cursor > from && this.cursor < to ? this.cursor : (from + to) / 2;
		const offset = this.model.offsetOfTrace(this.trace);
		return el('div', {}, el('p', {}, formatCount(operations) + ' operations are in view. The critical path is read for at most ' +
			formatCount(PATH_OPERATIONS) + '.'),
		el('div', { class: 'toolbar' }, button('Zoom in and look', () => {
			this.model.show(middle - part / 2 + offset, middle + part / 2 + offset);
			this.read();
		}, { class: 'primary' }), button('Look in the view', () => this.read())));
	}

	private show(found: Found, window: [number, number] | undefined, noSlack: string | undefined, all: number):
		Array<HTMLElement | undefined> {
		const parts = ((found.summary && found.summary.parts) || []).slice().sort((a, b) => b.ns - a.ns);
		const whole = parts.reduce((sum, part) => sum + part.ns, 0);
		const hide = button('Hide it in the timeline', () => {
			const shown = this.model.paths[this.trace].length > 0;
			this.model.paths[this.trace] = shown ? new Steps() : found.path;
			hide.textContent = shown ? 'Show it in the timeline' : 'Hide it in the timeline';
			this.model.emit('overlay');
		});
		const offset = this.model.offsetOfTrace(this.trace);
		const columns = el('div', { class: 'columns' },
			el('section', { class: 'narrow' }, shares('The critical path by part', parts.map((p) => [p.part, p.ns] as const), whole, PARTS)),
			el('section', {}, table('Its longest steps', [
				{ head: 'Length', class: 'number', cell: (step: Step) => number('ns', step.end - step.start) },
				{ head: 'Begins', class: 'number', cell: (step) => formatInstant(step.start) },
				{ head: 'Part', class: 'short', cell: (step) => clean(step.part.split('_')[0], 30) },
				// These parts end where the call or the operation begins.
				{ head: 'Step', cell: (step) => link((step.part === 'host_gap' || step.part === 'wait' ? 'before ' : '') + brief(step.name, 100),
					step.name, () => this.shell.goToSpan(step.start + offset, step.end + offset)) },
			], found.longest)));
		if (noSlack === undefined)
			columns.append(this.slack(found.rows, all > SLACK_OPERATIONS));
		return [damageNote(found.summary || {}), el('div', { class: 'toolbar' }, el('span', { class: 'lead' }, 'The chain of ', number('count', found.steps),
			(found.steps === 1 ? ' step' : ' steps') + ' that led to the latest end: ', number('ns', whole), '.'), hide,
		all > SLACK_OPERATIONS ? button(window ? 'Look in the view again' : 'Slack of the rows in view', () => this.read()) : undefined),
		window ? el('p', { class: 'dim' }, 'Read from ' + formatInstant(window[0]) + ' to ' + formatInstant(window[1]) +
			' (' + formatDuration(window[1] - window[0]) + '). Slack counts to the latest end in it.') : undefined,
		noSlack === undefined ? undefined : el('p', { class: 'dim' }, clean(noSlack, 300)), columns];
	}

	/* How much later each operation could have ended without a delay of the latest end. */
	private slack(rows: Row[], inView: boolean): HTMLElement {
		return el('section', {}, table(inView ? 'Slack of operations in view, least first' : 'Slack of operations, least first', [
			{ head: 'Operation', cell: (row: Row) => link(brief(row.name, 100), row.name, () =>
				void this.shell.goToOperation(row.slack.op, this.trace, this.model.lane(row.lane)?.session)) },
			{ head: 'Slack', class: 'number', cell: (row) => number('ns', row.slack.ns) },
			{ head: 'Stream', class: this.streamClass, cell: (row) => String(row.stream ?? '') + this.process(this.model.lane(row.lane)?.session) },
			{ head: 'Duration', class: 'number', cell: (row) => number('ns', row.slack.end - row.slack.start) },
		], rows, (row) => ({ data: { op: String(row.slack.op) } })),
		el('p', { class: 'dim' }, 'In the timeline, the line after a row is as long as its slack.'));
	}
}
