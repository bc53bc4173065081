// SPDX-License-Identifier: Apache-2.0
// The lanes as a tree that folds, and the place of each visible lane. Pure: no document, no canvas.
import { LaneInfo } from '../data/api';

export const DEPTH_HEIGHT = 18;
const MAX_DEPTH = 8;    // levels of a lane that is not expanded
const MOST_LEVELS = 64; // the server counts no further
export const MORE_HEIGHT = 10; // of the strip that stands for the levels below
const GROUP_HEIGHT = 26;
const SMALL_HEIGHT = 20;
const LANE_PADDING = 6;
const GROUP_ID = 2000000; // ids of the page's own groups: this one and that of the lane above

export interface Lane {
	info: LaneInfo;
	layer: number;     // 0: the trace; otherwise a what-if layer, drawn under its lane
	level: number;     // nesting in the tree
	children: Lane[];
	folded: boolean;
	depth: number;     // levels of rows that are drawn
	levels: number;    // that are known
	expanded: boolean; // all levels are drawn
	y: number;
	height: number;
	hidden: boolean;
}

/* The levels of rows that are not drawn. */
export function hiddenLevels(lane: Lane): number {
	return lane.levels - lane.depth;
}

/* True for a lane whose levels can be expanded, or are. */
export function hasManyLevels(lane: Lane): boolean {
	return lane.levels > MAX_DEPTH;
}

function setLevels(lane: Lane, levels: number): void {
	lane.levels = Math.max(1, Math.min(MOST_LEVELS, levels));
	lane.depth = lane.expanded ? lane.levels : Math.min(MAX_DEPTH, lane.levels);
}

function heightOf(lane: Lane): number {
	const deeper = (lane.depth - 1) * DEPTH_HEIGHT + (hiddenLevels(lane) ? MORE_HEIGHT : 0);
	switch (lane.info.kind) {
	case 'process':
	case 'device':
	case 'group':
		return GROUP_HEIGHT;
	case 'kernel_events':
		return SMALL_HEIGHT + deeper;
	case 'host_samples':
		return SMALL_HEIGHT;
	case 'counter':
		return 36;
	default:
		return DEPTH_HEIGHT + LANE_PADDING + deeper;
	}
}

/* Devices first, as most questions are about them; threads without calls after the others; counters last. */
function order(info: LaneInfo): number {
	const kinds: { readonly [kind: string]: number } = { device: 0, counter: 3, process: 1, group: 4 };
	return (info.trace || 0) * 10 + (kinds[info.kind] ?? 2) + (info.kind === 'thread' && !info.rows ? 0.5 : 0);
}

/* Equal for lanes of two traces that show the same: processes and threads by their order, the others by what they are of. */
function likeness(info: LaneInfo): string {
	if (info.kind === 'process')
		return info.kind;
	if (info.kind === 'thread')
		return info.kind + '/' + info.name.replace(/ \(thread \d+\)$/, '');
	return info.kind + '/' + (info.kind === 'device' ? info.device : info.kind === 'stream' ? info.stream : info.name);
}

/* True for the recorder's own counters. */
function isRecorders(info: LaneInfo): boolean {
	return info.kind === 'counter' && (info.folded === true || info.name.startsWith('tracesmith:'));
}

export class LaneTree {
	readonly roots: Lane[] = [];
	readonly byId = new Map<number, Lane>();
	visible: Lane[] = [];
	height = 0;
	paired = true; // a lane of the second trace is drawn under its like of the first one
	private partners = new Map<Lane, Lane>();
	private readonly hasPartner = new Set<Lane>(); // lanes of the second trace
	private layer = 0;

	constructor(infos: LaneInfo[]) {
		this.update(infos);
		this.foldIfMany();
		this.layout();
	}

	/* Adds new lanes, as a live trace gets them, and takes over counts. Returns true if there are new lanes, or levels. */
	update(infos: LaneInfo[]): boolean {
		const added: Lane[] = [];
		let isDeeper = false;
		for (const info of infos) {
			const known = this.byId.get(info.id);
			if (known) {
				known.info.rows = info.rows;
				known.info.depth = info.depth;
				isDeeper = isDeeper || info.depth > known.levels;
				setLevels(known, Math.max(known.levels, info.depth));
				continue;
			}
			const lane: Lane = {
				info: { ...info }, layer: 0, level: 0, children: [], folded: false,
				depth: 1, levels: 1, expanded: false, y: 0, height: 0, hidden: true,
			};
			setLevels(lane, info.depth);
			this.byId.set(info.id, lane);
			added.push(lane);
		}
		for (const lane of added) {
			const { id, parent } = lane.info;
			const above = parent && parent !== id ? this.byId.get(parent) : undefined;
			const list = above ? above.children : this.roots;
			(isRecorders(lane.info) ? this.recorder(lane.info, list).children : list).push(lane);
		}
		const sort = (lanes: Lane[]): void => {
			lanes.sort((a, b) => order(a.info) - order(b.info));
		};
		sort(this.roots);
		for (const lane of this.byId.values())
			sort(lane.children);
		this.findPartners();
		return isDeeper || added.length > 0;
	}

	/* Folds or unfolds a lane, and with it the lane that it is paired with. */
	fold(lane: Lane): void {
		if (!lane.children.length)
			return;
		const first = this.paired && this.hasPartner.has(lane) ? [...this.partners].find(([, other]) => other === lane)?.[0] : undefined;
		lane.folded = !lane.folded;
		if (first)
			first.folded = lane.folded;
		this.layout();
	}

	/* Folds the other processes, and unfolds this one; if it is the only one that is unfolded, unfolds all. */
	isolate(lane: Lane): void {
		const others = this.roots.filter((root) => root !== lane && root.children.length > 0 && this.partners.get(lane) !== root &&
			this.partners.get(root) !== lane);
		const alone = !lane.folded && others.every((root) => root.folded);
		lane.folded = false;
		for (const root of others)
			root.folded = !alone;
		this.layout();
	}

	/* The folded group of the recorder's counters below a lane. */
	private recorder(counter: LaneInfo, siblings: Lane[]): Lane {
		const id = GROUP_ID + counter.parent;
		let group = this.byId.get(id);
		if (!group) {
			group = { info: { id, parent: counter.parent, kind: 'group', name: 'counters of the recorder', rows: 0, depth: 1,
				session: counter.session, trace: counter.trace }, layer: 0, level: 0, children: [], folded: true, depth: 1, levels: 1,
			expanded: false, y: 0, height: 0, hidden: true };
			this.byId.set(id, group);
			siblings.push(group);
		}
		return group;
	}

	/* A trace with many lanes opens with what is below its threads and devices folded away. */
	private foldIfMany(): void {
		const fold: { [kind: string]: boolean } = { thread: this.byId.size > 60, device: this.byId.size > 250,
			process: this.roots.length > 64 };
		for (const lane of this.byId.values())
			lane.folded = lane.children.length > 0 && (lane.info.kind === 'group' || fold[lane.info.kind] === true);
	}

	/* The lane has rows that are nested deeper than was known. Returns true if it is drawn otherwise now. */
	deepen(id: number, depth: number): boolean {
		const lane = this.byId.get(id);
		if (!lane || lane.info.kind === 'device' || lane.info.kind === 'counter' || lane.info.kind === 'host_samples' || depth <= lane.levels)
			return false;
		setLevels(lane, depth);
		this.layout();
		return true;
	}

	/* Draws all levels of a lane, or the first ones. */
	expand(id: number, on: boolean): void {
		const lane = this.byId.get(id);
		if (!lane)
			return;
		lane.expanded = on;
		setLevels(lane, lane.levels);
		this.layout();
	}

	/* Draws the level of a row, with all levels if need be. Returns true if the lane is drawn otherwise now. */
	reveal(id: number, depth: number): boolean {
		const lane = this.byId.get(id);
		if (!lane || depth < lane.depth)
			return false;
		this.deepen(id, depth + 1);
		if (depth >= lane.depth)
			this.expand(id, true);
		return true;
	}

	expandedIds(): number[] {
		return [...this.byId.values()].filter((lane) => lane.expanded).map((lane) => lane.info.id);
	}

	pair(on: boolean): void {
		this.paired = on;
		this.layout();
	}

	/* Finds the lane of the second trace that is like each lane of the first: the same place below like lanes. */
	private findPartners(): void {
		this.partners.clear();
		this.hasPartner.clear();
		const match = (first: Lane[], second: Lane[], seen: number): void => {
			const free = second.slice();
			for (const lane of first) {
				const index = free.findIndex((other) => likeness(lane.info) === likeness(other.info));
				if (index < 0)
					continue;
				const [other] = free.splice(index, 1);
				this.partners.set(lane, other);
				this.hasPartner.add(other);
				if (seen < 16)
					match(lane.children, other.children, seen + 1);
			}
		};
		match(this.roots.filter((lane) => !lane.info.trace), this.roots.filter((lane) => lane.info.trace), 0);
	}

	setLayer(layer: number): void {
		this.layer = layer;
		this.layout();
	}

	layout(): void {
		this.visible = [];
		let y = 0;
		const place = (lane: Lane): void => {
			lane.y = y;
			lane.height = heightOf(lane);
			lane.hidden = false;
			y += lane.height;
			this.visible.push(lane);
		};
		const walk = (lanes: Lane[], level: number, hidden: boolean, seen: number): void => {
			for (const lane of lanes) {
				const partner = this.paired ? this.partners.get(lane) : undefined;
				lane.level = level;
				lane.hidden = true;
				if (!hidden) {
					place(lane);
					if (this.layer && !lane.info.trace && (lane.info.kind === 'stream' || lane.info.kind === 'thread'))
						place({ ...lane, layer: this.layer, children: [], level: level + 1 });
				}
				if (partner) {
					partner.level = level;
					partner.hidden = true;
					partner.folded = lane.folded;
					if (!hidden)
						place(partner);
				}
				const more = partner ? partner.children.filter((child) => !this.hasPartner.has(child)) : [];
				if (seen < 16)
					walk([...lane.children, ...more], level + 1, hidden || lane.folded, seen + 1);
			}
		};
		walk(this.paired ? this.roots.filter((lane) => !this.hasPartner.has(lane)) : this.roots, 0, false, 0);
		this.height = y;
	}

	at(y: number): Lane | undefined {
		let low = 0;
		let high = this.visible.length - 1;
		while (low <= high) {
			const middle = (low + high) >> 1;
			const lane = this.visible[middle];
			if (y < lane.y)
				high = middle - 1;
			else if (y >= lane.y + lane.height)
				low = middle + 1;
			else
				return lane;
		}
		return undefined;
	}

	private above(lane: Lane): Lane | undefined {
		return isRecorders(lane.info) ? this.byId.get(GROUP_ID + lane.info.parent) : this.byId.get(lane.info.parent);
	}

	/* The process that a lane belongs to. */
	rootOf(id: number): Lane | undefined {
		let lane = this.byId.get(id);
		for (let i = 0; lane && !this.roots.includes(lane) && i < 16; i++)
			lane = this.above(lane);
		return lane;
	}

	/* The lane, or its nearest visible ancestor. */
	shown(id: number): Lane | undefined {
		let lane = this.byId.get(id);
		for (let i = 0; lane && lane.hidden && i < 16; i++)
			lane = this.above(lane);
		return lane && !lane.hidden ? lane : undefined;
	}

	unfold(id: number): void {
		let lane = this.byId.get(id);
		for (let i = 0; lane && i < 16; i++) {
			lane = this.above(lane);
			if (lane && lane.folded)
				this.fold(lane);
		}
		this.layout();
	}

	foldedIds(): number[] {
		return [...this.byId.values()].filter((lane) => lane.folded).map((lane) => lane.info.id);
	}

	setFolded(ids: number[]): void {
		const set = new Set(ids);
		for (const lane of this.byId.values())
			lane.folded = set.has(lane.info.id);
		this.layout();
	}
}
