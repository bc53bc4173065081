// SPDX-License-Identifier: Apache-2.0
// Draws the visible lanes on the canvas: tiles or rows, names, and what lies over them: the selection, the span, the cursor, arrows,
// gaps, and the critical path. Asks the caches for what it lacks; the caches ask the server.
import { colourOf, css, fixedColour, GREY, hashText, muted, pixel, Rgb } from '../core/colours';
import { elide, spelled } from '../core/names';
import { Scale } from '../core/scale';
import { firstFrom, Steps } from '../core/steps';
import { formatDuration, formatInstant, roundStep, ticks } from '../core/time';
import { CELLS, levelOf, MAX_LEVEL, Tile, valuesOf } from '../core/tile';
import { RowCache, RowChunk, ROWS_LIMIT, CHUNK_LEVELS } from '../data/row-cache';
import { TileCache } from '../data/tile-cache';
import { Model, Selection } from '../model';
import { DEPTH_HEIGHT, hiddenLevels, Lane, MORE_HEIGHT } from './lanes';
import { Found, Strips } from './strips';

const LABEL_PIXELS = 26;
const ANCESTORS = 10;
const MOST_TILES = 2000; // of a frame
const CHUNK_ABOVE = CHUNK_LEVELS - Math.log2(CELLS); // levels from a tile to that which is as long as a chunk
const BAR = DEPTH_HEIGHT - 2;
const SOFT = 110; // opacity of a counter's values between the least and the largest, of 255

export interface Theme {
	background: string;
	group: string;
	text: string;
	dim: string;
	grid: string;
	accent: string;
	shade: string;
	selected: string;
}

export interface Hit {
	lane: Lane;
	ns: number;          // in the lane's trace
	row?: Selection;
	value?: number;      // of the row, if the lane is a counter
	cell?: { key: number; count: number; share: number; width: number; values?: [number, number] };
	deeper?: number;     // levels that are not drawn: the place is that of their strip
}

function themeOf(element: Element): Theme {
	const style = getComputedStyle(element);
	const value = (name: string): string => style.getPropertyValue(name).trim();
	return {
		background: value('--timeline'), group: value('--group'), text: value('--text'), dim: value('--dim'),
		grid: value('--grid'), accent: value('--accent'), shade: value('--shade'), selected: value('--selected'),
	};
}

/* A float of 32 bits, with as many digits as it has. */
function shortest(value: number): string {
	return String(Number(value.toPrecision(7)));
}

export class Painter {
	private readonly context: CanvasRenderingContext2D;
	private readonly strips = new Strips();
	private readonly pixelOf = new Map<number, number>(); // of one lane in a frame
	private readonly widths = new Map<string, number>();
	private theme: Theme;
	private readonly scales = new Map<Lane, Scale>(); // of the counters in the picture
	private font = '';
	private level = 0;
	private scroll = 0;
	private drawn = ''; // the view of the last frame
	private gapsByLane = new Map<number, Array<{ start: number; end: number; cause: string }>>();

	constructor(private readonly canvas: HTMLCanvasElement, private readonly model: Model,
		private readonly tiles: TileCache, private readonly rows: RowCache) {
		this.context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
		this.theme = themeOf(canvas);
		model.on('colour', () => {
			this.theme = themeOf(canvas);
			this.font = '';
		});
		model.on('overlay', () => {
			this.gapsByLane = new Map();
			for (const gap of model.gaps) {
				const list = this.gapsByLane.get(gap.lane) || [];
				list.push(gap);
				this.gapsByLane.set(gap.lane, list);
			}
		});
	}

	draw(scroll: number, width: number, height: number, ratio: number, first: () => void): void {
		const { context, model, theme } = this;
		const { view } = model;
		this.scroll = scroll;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.imageSmoothingEnabled = false;
		context.fillStyle = theme.background;
		context.fillRect(0, 0, width, height);
		if (!this.font)
			this.font = '11px ' + (getComputedStyle(this.canvas).fontFamily || 'sans-serif');
		context.font = this.font;
		context.textBaseline = 'middle';
		const lanes = model.tree.visible.filter((lane) => lane.y + lane.height > scroll && lane.y < scroll + height);
		this.level = levelOf(view.nsPerPixel);
		const perLane = Math.ceil(view.span / (CELLS * Math.pow(2, this.level))) + 1;
		if (perLane * lanes.length > MOST_TILES)
			this.level = Math.min(MAX_LEVEL, this.level + 1);
		const drawn = view.from + '/' + view.nsPerPixel;
		if (drawn !== this.drawn)
			this.tiles.moved();
		this.drawn = drawn;
		this.tiles.beginFrame();
		this.rows.beginFrame();
		first();
		this.grid(width, height);
		this.lanes(lanes, width, height, ratio);
		this.overlays(width, height);
		this.tiles.flush();
		this.rows.flush();
		model.names.flush();
	}

	private grid(width: number, height: number): void {
		const { view } = this.model;
		const step = roundStep(view.nsPerPixel * 110);
		this.context.fillStyle = this.theme.grid;
		for (const ns of ticks(view.from, view.to, step)) {
			const x = Math.round(view.x(ns));
			if (x >= 0 && x < width)
				this.context.fillRect(x, 0, 1, height);
		}
	}

	private colour(lane: Lane, key: number): Rgb {
		const { model } = this;
		const name = model.nameOf(lane.info.id, key);
		switch (model.colour) {
		case 'stream':
			return colourOf(hashText('lane ' + (lane.info.stream ?? lane.info.thread ?? lane.info.id)));
		case 'type':
			return name.type ? fixedColour(name.type) : GREY;
		case 'cause':
		case 'correlation':
			// A cell has rows of many launches; drawRows() has the colour of each.
			return GREY;
		default:
			// A thread that sleeps does no work: it stays in the background.
			return name.type === 'off_cpu' || name.type === 'syscall' ? muted(colourOf(name.colour || key)) : colourOf(name.colour || key);
		}
	}

	/* Backgrounds, then what comes from tiles as one picture, then rows and names. */
	private lanes(lanes: Lane[], width: number, height: number, ratio: number): void {
		const rows = new Map<Lane, RowChunk[]>();
		this.scales.clear();
		this.strips.begin(width, height, ratio);
		for (const lane of lanes) {
			this.background(lane, width);
			if (lane.info.rows > 0) {
				const chunks = this.laneRows(lane);
				if (chunks)
					rows.set(lane, chunks);
				else
					this.laneTiles(lane, lane.y - this.scroll + 3, lane.height - 8);
			} else if (lane.folded && lane.children.length) {
				this.foldedGroup(lane, lane.y - this.scroll + 4);
			}
		}
		this.strips.draw(this.context, width, height);
		for (const lane of lanes) {
			const y = lane.y - this.scroll + 3;
			const chunks = rows.get(lane);
			if (chunks)
				this.drawChunks(lane, chunks, y, width);
			else if (lane.info.rows > 0 && lane.info.kind !== 'counter')
				this.laneNames(lane, y, width);
			this.laneGaps(lane, y, width);
			this.laneSlack(lane, width);
			const scale = this.scales.get(lane);
			if (scale)
				this.ends(scale, y, lane.height - 8);
		}
	}

	/* The largest value of a counter's scale at its upper end, and the least one at the lower end unless that is 0. */
	private ends(scale: Scale, y: number, height: number): void {
		const { context, theme } = this;
		const [low, high] = scale.ends;
		for (const [text, top] of [[high, y], [low, y + height - 12]] as const) {
			if (text === '0')
				continue;
			context.fillStyle = theme.background;
			context.fillRect(0, top, this.measure(text) + 6, 12);
			context.fillStyle = theme.text;
			context.fillText(text, 3, top + 6.5);
		}
	}

	private background(lane: Lane, width: number): void {
		const { context, model, theme } = this;
		const y = lane.y - this.scroll;
		if (lane.info.kind === 'process' || lane.info.kind === 'device' || lane.info.kind === 'group') {
			context.fillStyle = theme.group;
			context.fillRect(0, y, width, lane.height - 1);
		}
		if (model.focusedLane === lane.info.id && !lane.layer) {
			context.fillStyle = theme.shade;
			context.fillRect(0, y, width, lane.height - 1);
		}
		context.fillStyle = theme.grid;
		context.fillRect(0, y + lane.height - 1, width, 1);
	}

	/* A folded lane without rows of its own shows those below it, one over the other. */
	private foldedGroup(lane: Lane, y: number): void {
		const all: Lane[] = [];
		const walk = (children: Lane[], seen: number): void => {
			for (const child of children) {
				if (child.info.rows > 0 && child.info.kind !== 'counter')
					all.push(child);
				if (seen < 8)
					walk(child.children, seen + 1);
			}
		};
		walk(lane.children, 0);
		for (const child of all.slice(0, 8))
			this.laneTiles({ ...child, layer: 0 }, y, Math.max(12, lane.height - 10));
	}

	private laneGaps(lane: Lane, y: number, width: number): void {
		const gaps = this.model.colour === 'cause' && !lane.layer ? this.gapsByLane.get(lane.info.id) : undefined;
		const { view } = this.model;
		const offset = this.model.offsetOf(lane.info.id);
		for (const gap of gaps || []) {
			const x0 = Math.max(0, view.x(gap.start + offset));
			const x1 = Math.min(width, view.x(gap.end + offset));
			if (x1 - x0 < 0.5)
				continue;
			this.context.fillStyle = css(fixedColour(gap.cause));
			this.context.fillRect(x0, y + BAR - 6, x1 - x0, 6);
			this.label(spelled(gap.cause), x0, y - 4, x1 - x0, this.theme.text);
		}
	}

	/* A line after each row, as long as its slack; it ends at the next row of the lane. The selected row has its whole slack. */
	private laneSlack(lane: Lane, width: number): void {
		const { context, model } = this;
		const list = lane.layer ? undefined : model.slack.get(lane.info.id);
		if (!list)
			return;
		const { view } = model;
		const offset = model.offsetOf(lane.info.id);
		const y = Math.round(lane.y - this.scroll + Math.min(lane.height, DEPTH_HEIGHT + 6) - 4);
		context.fillStyle = this.theme.dim;
		let last = -1;
		for (let i = Math.max(0, firstFrom(list, view.from - offset) - 1); i < list.length && list[i].start + offset < view.to; i++) {
			const { end, ns } = list[i];
			const x0 = view.x(end + offset);
			const next = i + 1 < list.length ? list[i + 1].start : Infinity;
			const x1 = Math.min(width, view.x(Math.min(end + ns, next) + offset));
			if (x1 - x0 < 3 || x1 - last < 3 || x1 < 0)
				continue;
			last = x1;
			context.fillRect(Math.max(0, x0), y, x1 - Math.max(0, x0), 2);
			if (end + ns <= next)
				context.fillRect(x1 - 1, y - 4, 1, 6);
		}
		const { selection } = model;
		const ns = selection && selection.lane === lane.info.id ? model.slackOf(selection.lane, selection.start, selection.op) : undefined;
		if (!selection || !ns)
			return;
		const x0 = Math.max(0, view.x(selection.end + offset));
		const x1 = Math.min(width, view.x(selection.end + ns + offset));
		if (x1 - x0 < 1)
			return;
		context.fillStyle = this.theme.selected;
		context.fillRect(x0, y - 1, x1 - x0, 3);
		context.fillRect(x1 - 1, y - 8, 1, 10);
	}

	/* The chunks of rows that cover the view, if they are here and few enough; otherwise tiles have to do. */
	private laneRows(lane: Lane): RowChunk[] | undefined {
		const { model } = this;
		const offset = model.offsetOf(lane.info.id);
		const from = model.view.from - offset;
		const to = model.view.to - offset;
		const ranges = this.rows.ranges(lane.info, lane.layer, this.level, Math.max(0, from), to, model.view.duration);
		const chunks: RowChunk[] = [];
		let complete = true;
		for (const range of ranges) {
			if (ranges.length > 1 || !range.key.endsWith('all')) {
				const count = this.chunkCount(lane, range.from);
				if (count === undefined || count > ROWS_LIMIT) {
					complete = false;
					continue;
				}
			}
			const chunk = this.rows.want(lane.info.id, lane.layer, range);
			if (chunk && !chunk.more)
				chunks.push(chunk);
			else
				complete = false;
		}
		return complete ? chunks : undefined;
	}

	private drawChunks(lane: Lane, chunks: RowChunk[], y: number, width: number): void {
		const { view } = this.model;
		const offset = this.model.offsetOf(lane.info.id);
		const right = new Float64Array(lane.depth + 1).fill(-1e9);
		if (lane.info.kind === 'counter' && chunks.every((chunk) => chunk.value)) {
			this.drawCounter(lane, chunks, y, width, offset);
			return;
		}
		for (const chunk of chunks)
			this.drawRows(lane, chunk, y, width, view.from - offset, view.to - offset, offset, right);
	}

	/*
	 * Rows that start in the chunk at `from`; undefined: not known yet. If those of the view are few, a coarser tile, as long as the chunk,
	 * counts the others: an answer with too many rows is of no use.
	 */
	private chunkCount(lane: Lane, from: number): number | undefined {
		const count = this.viewCount(lane, from);
		if ((count !== undefined && count > ROWS_LIMIT) || this.level + CHUNK_ABOVE > MAX_LEVEL)
			return count;
		const whole = this.tiles.want(lane.layer, this.level + CHUNK_ABOVE, lane.info.id,
			Math.round(from / Math.pow(2, this.level + CHUNK_LEVELS)));
		return count === undefined ? undefined : whole && whole.count;
	}

	/* Those of the chunk's rows that the tiles of the view count; undefined: not known yet. */
	private viewCount(lane: Lane, from: number): number | undefined {
		const size = Math.pow(2, this.level) * CELLS;
		const tiles = Math.pow(2, CHUNK_LEVELS) / CELLS;
		const first = Math.round(from / size);
		const { view } = this.model;
		const offset = this.model.offsetOf(lane.info.id);
		let count = 0;
		for (let i = 0; i < tiles; i++) {
			// Tiles outside the view are not asked for.
			const start = (first + i) * size;
			const seen = start + size > view.from - offset && start < view.to - offset && start < view.duration;
			const tile = seen ? this.tiles.want(lane.layer, this.level, lane.info.id, first + i) :
				this.tiles.peek(lane.layer, this.level, lane.info.id, first + i);
			if (tile)
				count += tile.count;
			else if (seen)
				return undefined;
		}
		return count;
	}

	private drawRows(lane: Lane, chunk: RowChunk, y: number, width: number, from: number, to: number, offset: number,
		right: Float64Array): void {
		const { context, model } = this;
		const { view } = model;
		const selected = model.selection;
		const instants = lane.info.kind === 'host_samples';
		for (let i = 0; i < chunk.start.length; i++) {
			const start = chunk.start[i];
			const end = chunk.end[i];
			if (start >= to)
				break;
			if (end < from)
				continue;
			const depth = Math.min(chunk.depth[i], lane.depth);
			const x0 = Math.max(-2, view.x(start + offset));
			let x1 = Math.min(width + 2, view.x(end + offset));
			if (x1 <= right[depth])
				continue;
			x1 = Math.max(x1, x0 + (instants ? 2 : 1));
			right[depth] = Math.ceil(x0) === Math.ceil(x1) ? Math.ceil(x1) : x1;
			const key = chunk.key[i];
			const top = y + depth * DEPTH_HEIGHT;
			if (depth === lane.depth) {
				// Levels that are not drawn: the strip shows where they have rows.
				context.fillStyle = this.theme.dim;
				context.fillRect(x0, top, x1 - x0, MORE_HEIGHT - 4);
				continue;
			}
			const colour = model.colour === 'correlation' ? colourOf(hashText('op ' + chunk.op[i])) : this.colour(lane, key);
			context.fillStyle = css(colour);
			context.fillRect(x0, top, x1 - x0 - (x1 - x0 > 4 ? 0.6 : 0), Math.min(BAR, lane.height - 6));
			if (x1 - x0 >= LABEL_PIXELS && lane.height >= DEPTH_HEIGHT) {
				const name = model.nameOf(lane.info.id, key);
				this.nameLabel(name.full, name.short, Math.max(0, x0), top, Math.min(width, x1) - Math.max(0, x0));
			}
			if (selected && !lane.layer && selected.lane === lane.info.id && selected.start === start &&
			    selected.depth === chunk.depth[i]) {
				context.strokeStyle = this.theme.selected;
				context.lineWidth = 2;
				context.strokeRect(x0 - 1, top - 1, Math.max(3, x1 - x0 + 2), BAR + 2);
			}
		}
	}

	/* Values of a counter as steps. All chunks have one scale. A value that is no number changes nothing: the last one holds. */
	private drawCounter(lane: Lane, chunks: RowChunk[], y: number, width: number, offset: number): void {
		const { context, model } = this;
		const scale = new Scale();
		for (const { value } of chunks)
			(value as Float64Array).forEach((one) => scale.add(one));
		this.scales.set(lane, scale);
		const height = lane.height - 8;
		let last: [number, number] | undefined;
		const draw = (end: number): void => {
			if (!last)
				return;
			const [x, value] = last;
			const h = Math.max(1, scale.part(value) * height);
			if (x < width && end > 0)
				context.fillRect(Math.max(0, x), y + height - h, Math.max(1, Math.min(width, end) - Math.max(0, x)), h);
		};
		context.fillStyle = css(colourOf(hashText(lane.info.name)));
		for (const { start, value } of chunks) {
			for (let i = 0; i < start.length; i++) {
				const one = (value as Float64Array)[i];
				if (Number.isNaN(one))
					continue;
				const x = model.view.x(start[i] + offset);
				draw(x);
				last = [x, one];
			}
		}
		draw(width);
	}

	private laneTiles(lane: Lane, y: number, height: number): void {
		const { view } = this.model;
		const offset = this.model.offsetOf(lane.info.id);
		const place = { y, height, from: view.from - offset, nsPerPixel: view.nsPerPixel, level: this.level,
			end: Math.min(view.to - offset, view.duration) };
		if (lane.info.kind === 'counter') {
			const colour = colourOf(hashText(lane.info.name));
			this.scales.set(lane, this.strips.counter(place, (index) => this.find(lane, index), pixel(colour), pixel(colour, SOFT)));
			return;
		}
		this.pixelOf.clear();
		this.strips.lane(place, (index) => this.find(lane, index), (key) => {
			let value = this.pixelOf.get(key);
			if (value === undefined) {
				value = pixel(this.colour(lane, key));
				this.pixelOf.set(key, value);
			}
			return value;
		});
	}

	/* The tile; while it is on its way, a coarser one. */
	private find(lane: Lane, index: number): Found | undefined {
		const tile = this.tiles.want(lane.layer, this.level, lane.info.id, index);
		if (tile)
			return { tile, level: this.level, index };
		for (let up = 1; up <= ANCESTORS; up++) {
			const above = Math.floor(index / Math.pow(2, up));
			const coarse = this.tiles.peek(lane.layer, this.level + up, lane.info.id, above);
			if (coarse)
				return { tile: coarse, level: this.level + up, index: above };
		}
		return undefined;
	}

	private laneNames(lane: Lane, y: number, width: number): void {
		const { view } = this.model;
		const offset = this.model.offsetOf(lane.info.id);
		const size = Math.pow(2, this.level) * CELLS;
		const last = Math.min(view.to - offset, view.duration);
		for (let i = Math.max(0, Math.floor((view.from - offset) / size)); i * size < last; i++) {
			const tile = this.tiles.peek(lane.layer, this.level, lane.info.id, i);
			if (tile)
				this.tileNames(lane.info.id, tile, view.x(i * size + offset), size / view.nsPerPixel / CELLS, y, width);
		}
	}

	/* Names of long rows, from cells with the same kind that are busy throughout. */
	private tileNames(lane: number, tile: Tile, x: number, cell: number, y: number, width: number): void {
		const { words } = tile;
		const least = LABEL_PIXELS / cell;
		for (let i = 0; i < CELLS;) {
			const key = words[4 * i];
			let j = i + 1;
			while (key && j < CELLS && words[4 * j] === key && words[4 * j + 3] > 990000 && words[4 * j + 1] === 0)
				j++;
			if (j - i > least && x + j * cell > 0 && x + i * cell < width) {
				const name = this.model.nameOf(lane, key);
				const left = Math.max(0, x + i * cell);
				this.nameLabel(name.full, name.short, left, y, Math.min(width, x + j * cell) - left);
			}
			i = j;
		}
	}

	private measure(text: string): number {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 5000)
				this.widths.clear();
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	private nameLabel(full: string, short: string, x: number, y: number, width: number): void {
		if (!full || width < LABEL_PIXELS)
			return;
		this.label(this.measure(full) <= width - 6 ? full : short, x, y, width, '#0b0d10');
	}

	private label(text: string, x: number, y: number, width: number, colour: string): void {
		const room = width - 6;
		let size = this.measure(text);
		if (size > room) {
			const max = Math.floor(text.length * room / size) - 1;
			if (max < 2)
				return;
			text = elide(text, max);
			size = this.measure(text);
			if (size > room)
				return;
		}
		this.context.fillStyle = colour;
		this.context.fillText(text, x + 3, y + BAR / 2 + 0.5);
	}

	private overlays(width: number, height: number): void {
		const { context, model, theme } = this;
		const { view } = model;
		if (model.span) {
			const x0 = view.x(model.span[0]);
			const x1 = view.x(model.span[1]);
			context.fillStyle = theme.shade;
			context.fillRect(x0, 0, Math.max(1, x1 - x0), height);
			context.fillStyle = theme.accent;
			context.fillRect(x0, 0, 1, height);
			context.fillRect(x1, 0, 1, height);
		}
		for (const path of model.paths)
			this.criticalPath(path);
		for (const arrow of [...model.viewArrows, ...model.arrows])
			this.arrow(arrow.from_lane, arrow.from_ns, arrow.to_lane, arrow.to_ns, arrow.kind);
		for (const mark of model.marks) {
			const x = view.x(mark.ns);
			if (x < -1 || x > width)
				continue;
			context.fillStyle = theme.accent;
			context.fillRect(Math.round(x), 0, 1, height);
		}
		if (model.cursor !== undefined) {
			const x = Math.round(view.x(model.cursor));
			context.fillStyle = theme.selected;
			context.fillRect(x, 0, 1, height);
		}
	}

	private place(laneId: number, ns: number): [number, number] | undefined {
		const lane = this.model.tree.shown(laneId);
		if (!lane)
			return undefined;
		return [this.model.view.x(ns + this.model.offsetOf(laneId)), lane.y - this.scroll + Math.min(lane.height, 22) / 2];
	}

	private arrow(fromLane: number, fromNs: number, toLane: number, toNs: number, kind: string): void {
		const from = this.place(fromLane, fromNs);
		const to = this.place(toLane, toNs);
		if (!from || !to)
			return;
		const { context } = this;
		const bend = Math.max(12, Math.min(80, Math.abs(to[0] - from[0]) / 2));
		context.strokeStyle = kind === 'event' || kind === 'dependency' ? css(fixedColour('wait')) : this.theme.selected;
		context.fillStyle = context.strokeStyle;
		context.lineWidth = 1.5;
		context.beginPath();
		context.moveTo(from[0], from[1]);
		context.bezierCurveTo(from[0] + bend, from[1], to[0] - bend, to[1], to[0] - 5, to[1]);
		context.stroke();
		context.beginPath();
		context.moveTo(to[0], to[1]);
		context.lineTo(to[0] - 7, to[1] - 4);
		context.lineTo(to[0] - 7, to[1] + 4);
		context.fill();
	}

	private criticalPath(path: Steps): void {
		const { context, model } = this;
		const { view } = model;
		if (!path.length)
			return;
		const offset = model.offsetOf(path.lane[0]);
		let last: [number, number] | undefined;
		const drawnTo = new Map<number, number>(); // pixel, by lane: a lane is drawn once in a pixel
		// A step begins where the one before it ends.
		for (let i = path.after(view.from - offset); i < path.length && path.start[i] + offset <= view.to; i++) {
			const lane = path.lane[i];
			const x = view.x(path.end[i] + offset);
			if (x - (drawnTo.get(lane) ?? -1e9) < 0.7)
				continue;
			const from = this.place(lane, path.start[i]);
			const to = this.place(lane, path.end[i]);
			if (!from || !to)
				continue;
			drawnTo.set(lane, x);
			context.strokeStyle = css(fixedColour(path.partOf(i)));
			context.lineWidth = 3;
			context.beginPath();
			context.moveTo(from[0], from[1] + 8);
			context.lineTo(Math.max(from[0] + 1, to[0]), to[1] + 8);
			context.stroke();
			if (last && last[1] !== from[1]) {
				context.lineWidth = 1;
				context.beginPath();
				context.moveTo(last[0], last[1] + 8);
				context.lineTo(from[0], from[1] + 8);
				context.stroke();
			}
			last = to;
		}
	}

	/* The lane, and the row or the cell, at a pixel of the canvas. */
	hit(x: number, y: number): Hit | undefined {
		const { model } = this;
		const lane = model.tree.at(y + this.scroll);
		if (!lane)
			return undefined;
		const offset = model.offsetOf(lane.info.id);
		const ns = model.view.time(x) - offset;
		const hit: Hit = { lane, ns };
		if (!lane.info.rows)
			return hit;
		const place = Math.max(0, Math.floor((y + this.scroll - lane.y - 3) / DEPTH_HEIGHT));
		if (place >= lane.depth && hiddenLevels(lane)) {
			hit.deeper = hiddenLevels(lane);
			return hit;
		}
		const depth = Math.min(lane.depth - 1, place);
		const slack = model.view.nsPerPixel * 3;
		let best = Infinity;
		const ranges = this.rows.ranges(lane.info, lane.layer, this.level, Math.max(0, ns), ns + 1, model.view.duration);
		let known = false;
		for (const range of ranges) {
			const chunk = this.rows.want(lane.info.id, lane.layer, range);
			if (!chunk || chunk.more)
				continue;
			known = true;
			for (let i = 0; i < chunk.start.length && chunk.start[i] <= ns + slack; i++) {
				if (chunk.depth[i] !== depth || chunk.end[i] < ns - slack)
					continue;
				const distance = ns < chunk.start[i] ? chunk.start[i] - ns : ns > chunk.end[i] ? ns - chunk.end[i] : 0;
				if (distance <= best) {
					best = distance;
					hit.row = { lane: lane.info.id, start: chunk.start[i], end: chunk.end[i], key: chunk.key[i],
						op: chunk.op[i], depth: chunk.depth[i] };
					hit.value = chunk.value && chunk.value[i];
				}
			}
		}
		if (!known)
			this.hitTile(hit, lane, ns);
		return hit;
	}

	private hitTile(hit: Hit, lane: Lane, ns: number): void {
		const cellNs = Math.pow(2, this.level);
		const cell = Math.floor(ns / cellNs);
		const tile = this.tiles.peek(lane.layer, this.level, lane.info.id, Math.floor(cell / CELLS));
		if (!tile || cell < 0)
			return;
		const i = 4 * (cell % CELLS);
		if (lane.info.kind === 'counter')
			hit.cell = { key: tile.words[i], count: tile.words[i + 1], share: tile.words[i + 1] ? 1 : 0, width: cellNs,
				values: valuesOf(tile, i / 4) };
		else if (tile.words[i] || tile.words[i + 1])
			hit.cell = { key: tile.words[i], count: tile.words[i + 1], share: tile.words[i + 2] / 1e6, width: cellNs };
	}

	describe(hit: Hit): string[] {
		const { model } = this;
		if (hit.deeper)
			return [hit.deeper + (hit.deeper === 1 ? ' more level' : ' more levels'), 'click to show them'];
		if (hit.row) {
			const name = model.nameOf(hit.row.lane, hit.row.key);
			const slack = model.slackOf(hit.row.lane, hit.row.start, hit.row.op);
			if (hit.value !== undefined)
				return [name.full || hit.lane.info.name, String(hit.value) + ' at ' + formatInstant(hit.row.start)];
			return [name.full || '(name is being read)', formatDuration(hit.row.end - hit.row.start) + ' at ' +
				formatInstant(hit.row.start), ...(slack === undefined ? [] : [slack ? 'slack ' + formatDuration(slack) :
				'no slack: on a critical path'])];
		}
		if (hit.cell && hit.lane.info.kind === 'counter') {
			const { values, count, width } = hit.cell;
			return [hit.lane.info.name, !values ? 'no value here' : (values[0] === values[1] ? shortest(values[0]) :
				shortest(values[0]) + ' to ' + shortest(values[1])) + ', ' + count + (count === 1 ? ' value in ' : ' values in ') +
				formatDuration(width)];
		}
		if (hit.cell) {
			const name = model.nameOf(hit.lane.info.id, hit.cell.key);
			const lines = [name.full];
			lines.push((hit.cell.share * 100).toFixed(1) + ' % busy in ' + formatDuration(hit.cell.width) +
				(hit.cell.count ? ', ' + hit.cell.count + ' begin' : ''));
			return lines;
		}
		return [];
	}
}
