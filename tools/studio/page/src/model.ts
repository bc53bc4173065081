// SPDX-License-Identifier: Apache-2.0
// The state of the page: the trace, the view, what is selected. Parts of the page change it here and listen for changes.
import { Mark } from './core/fragment';
import { add, Integer, subtract } from './core/json';
import { firstFrom, Steps } from './core/steps';
import { Api, Arrow, LaneInfo, Row, TraceInfo } from './data/api';
import { Info } from './data/info';
import { Name, NameCache, SECOND } from './data/name-cache';
import { LaneTree } from './timeline/lanes';
import { View } from './timeline/view';

export type ColourMode = 'name' | 'type' | 'stream' | 'correlation' | 'cause';
export type Change = 'view' | 'selection' | 'span' | 'cursor' | 'lanes' | 'marks' | 'overlay' | 'colour' | 'trace' |
	'names';

/* A row of a lane. Times count from the trace's start. */
export interface Selection {
	lane: number;
	start: number;
	end: number;
	key: number;
	op: Integer;
	depth: number;
	row?: Integer; // its number, if several rows may have these times
}

export interface GapMark {
	lane: number;
	start: number;
	end: number;
	cause: string;
}

/* How much later a row of a lane could have ended without a delay of the latest end. */
export interface Slack {
	start: number;
	end: number;
	ns: number;
	op: Integer;
}

const LARGE = 5000000; // rows

export class Model {
	readonly view = new View();
	readonly tree: LaneTree;
	selection: Selection | undefined;
	span: [number, number] | undefined;
	cursor: number | undefined;
	focusedLane: number | undefined;
	marks: Mark[] = [];
	arrows: Arrow[] = [];     // of the selected operation
	viewArrows: Arrow[] = []; // of all operations in view, if they are asked for
	gaps: GapMark[] = [];
	readonly paths = [new Steps(), new Steps()];          // the critical path of each trace
	readonly slack = new Map<number, Slack[]>();          // by lane, in order of start
	colour: ColourMode = 'name';
	layer = 0;
	offset = 0; // of the second trace: its times are drawn so much later
	private readonly listeners = new Map<Change, Array<() => void>>();

	constructor(public trace: TraceInfo, readonly api: Api, readonly names: NameCache) {
		this.tree = new LaneTree(trace.lanes);
		this.setEnd(0);
	}

	/* The view ends with the longest of the traces and an emulation, which ends at `ns`. */
	setEnd(ns: number): void {
		this.view.setDuration(Math.max(this.trace.duration_ns, this.trace.second_duration_ns || 0, ns));
	}

	on(change: Change, listener: () => void): void {
		const list = this.listeners.get(change) || [];
		list.push(listener);
		this.listeners.set(change, list);
	}

	emit(change: Change): void {
		for (const listener of this.listeners.get(change) || [])
			listener();
	}

	/* The slack of a row; undefined: it was not asked for. */
	slackOf(lane: number, start: number, op: Integer): number | undefined {
		const list = this.slack.get(lane);
		if (!list)
			return undefined;
		for (let i = firstFrom(list, start); i < list.length && list[i].start === start; i++) {
			if (String(list[i].op) === String(op))
				return list[i].ns;
		}
		return undefined;
	}

	lane(id: number): LaneInfo | undefined {
		const lane = this.tree.byId.get(id);
		return lane && lane.info;
	}

	/* The number of the trace that a lane is of. */
	traceOf(lane: number): number {
		const info = this.lane(lane);
		return (info && info.trace) || 0;
	}

	private infos: Array<Promise<Info> | undefined> = [];

	/* True if an answer that takes reading all rows is asked for on request only. */
	isLarge(trace: number): boolean {
		const rows = this.trace.lanes.reduce((sum, lane) => sum + (lane.kind === 'device' || lane.kind === 'compute' ||
			lane.kind === 'copy' || (lane.trace || 0) !== trace ? 0 : lane.rows), 0);
		return rows > LARGE;
	}

	/* The part of "info" that the index of the trace has. */
	sums(trace: number): Promise<Info> {
		return this.infos[trace] || this.api.ask<Info>('info', { no_errors: true }, trace);
	}

	/* The trace has grown: "info" is asked again. */
	forgetInfo(): void {
		this.infos = [];
	}

	/* The answer to "info": asked once. */
	info(trace = 0): Promise<Info> {
		let info = this.infos[trace];
		if (!info) {
			info = this.api.ask<Info>('info', {}, trace);
			this.infos[trace] = info;
			info.catch(() => {
				this.infos[trace] = undefined;
			});
		}
		return info;
	}

	/* The name of a key in a lane's trace. */
	nameOf(lane: number, key: number): Name {
		return this.names.get(key && this.traceOf(lane) ? key + SECOND : key);
	}

	offsetOf(lane: number): number {
		return this.offsetOfTrace(this.traceOf(lane));
	}

	offsetOfTrace(trace: number): number {
		return trace ? this.offset : 0;
	}

	origin(trace: number): Integer {
		return trace && this.trace.second_origin_ns !== undefined ? this.trace.second_origin_ns : this.trace.origin_ns;
	}

	/* Times of answers count from CLOCK_MONOTONIC's start; those of the page from the trace's. */
	relative(ns: unknown, trace = 0): number {
		if (typeof ns !== 'number' && typeof ns !== 'string')
			return 0;
		return subtract(ns, this.origin(trace));
	}

	absolute(ns: number, trace = 0): Integer {
		return add(Math.round(ns), this.origin(trace));
	}

	/* The lane of a row that an answer has. */
	laneOfRow(row: Row, trace = 0): LaneInfo | undefined {
		return this.findLane(row.session as number | undefined, row.device as number | undefined,
			row.stream as number | undefined, row.tid as number | undefined, trace, row.type);
	}

	findLane(session: number | undefined, device: number | undefined, stream: number | undefined, tid: number | undefined,
		trace = 0, type = 'kernel'): LaneInfo | undefined {
		if (this.indexed !== this.tree.byId.size)
			this.indexLanes();
		if (type === 'kernel' || type === 'memcpy' || type === 'memset')
			return this.index.get(['stream', trace, session, device, stream].join('/'));
		const kind = ['off_cpu', 'page_fault', 'syscall', 'block_io', 'pressure', 'driver'].includes(type) ? 'kernel_events' :
			type === 'range' || type === 'mark' ? 'ranges' : type === 'sample' ? 'host_samples' : 'thread';
		return this.index.get([kind, trace, session, tid].join('/')) || this.index.get(['thread', trace, session, tid].join('/'));
	}

	private readonly index = new Map<string, LaneInfo>();
	private indexed = -1;

	/* Lanes by what rows have: device and stream, or the thread. A row without a session is of the first one. */
	private indexLanes(): void {
		this.index.clear();
		this.indexed = this.tree.byId.size;
		const put = (key: Array<string | number | undefined>, info: LaneInfo): void => {
			const text = key.join('/');
			const known = this.index.get(text);
			if (!known || (known.rows === 0 && info.rows > 0))
				this.index.set(text, info);
		};
		for (const { info } of this.tree.byId.values()) {
			const trace = info.trace || 0;
			for (const session of [info.session, undefined]) {
				if (info.kind === 'stream') {
					put(['stream', trace, session, info.device, info.stream], info);
					put(['stream', trace, session, undefined, info.stream], info);
				} else {
					put([info.kind, trace, session, this.tidOf(info)], info);
				}
			}
		}
	}

	/* The system's number of a lane's thread. */
	private tidOf(info: LaneInfo): number | undefined {
		if (info.tid !== undefined)
			return info.tid;
		let lane: LaneInfo | undefined = info;
		for (let i = 0; lane && i < 4; i++) {
			const match = /\(thread (\d+)\)$/.exec(lane.name);
			if (match)
				return Number(match[1]);
			lane = this.lane(lane.parent);
		}
		return info.thread;
	}

	select(selection: Selection | undefined): void {
		this.selection = selection;
		if (selection) {
			this.focusedLane = selection.lane;
			const isDeep = this.tree.reveal(selection.lane, selection.depth);
			const isHidden = this.tree.byId.get(selection.lane)?.hidden === true;
			if (isHidden)
				this.tree.unfold(selection.lane);
			if (isDeep || isHidden)
				this.emit('lanes');
		}
		this.arrows = [];
		this.emit('selection');
		this.emit('view');
	}

	setSpan(span: [number, number] | undefined): void {
		this.span = span && span[0] > span[1] ? [span[1], span[0]] : span;
		this.emit('span');
		this.emit('view');
	}

	setCursor(ns: number | undefined): void {
		this.cursor = ns === undefined ? undefined : Math.max(0, Math.round(ns));
		this.emit('cursor');
		this.emit('view');
	}

	show(from: number, to: number): void {
		this.view.show(from, to);
		this.emit('view');
	}

	reveal(from: number, to: number): void {
		this.view.reveal(from, to);
		this.emit('view');
	}
}
