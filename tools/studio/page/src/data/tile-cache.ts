// SPDX-License-Identifier: Apache-2.0
// Tiles by layer, level, lane and number: a bounded cache. The drawing wants tiles, frame by frame; flush() asks the server for
// the missing ones, and cancels requests that the view no longer wants.
import { CELLS, Tile } from '../core/tile';
import { Api, isAbort } from './api';

const MAX_TILES = 3000;    // 4 KiB each, 12 MiB
const MAX_REQUESTS = 4;
const MAX_REQUEST_TILES = 192; // 768 KiB of answer
const MAX_RUN = 64;            // tiles of a lane in one request
const SECOND_TRACE = 1000000;  // lanes of a second trace have ids from here on
const AGAIN_MS = 400;      // tiles that are not exact yet are asked for again

interface Entry {
	tile: Tile;
	used: number;
	askAgain: number; // time, if the tile is not exact
}

interface Wanted {
	layer: number;
	level: number;
	lane: number;
	index: number;
}

interface Request {
	keys: Set<string>;
	controller: AbortController;
}

function keyOf(layer: number, level: number, lane: number, index: number): string {
	return layer + '/' + level + '/' + lane + '/' + index;
}

export class TileCache {
	private readonly entries = new Map<string, Entry>();
	private wanted = new Map<string, Wanted>();
	private readonly requests = new Set<Request>();
	private frame = 0;
	private pauseUntil = 0;
	version = 0; // changes when tiles arrive

	/* `changed` is called when tiles arrive; `failed` when the server answers with an error. */
	constructor(private readonly api: Api, private readonly changed: () => void,
		private readonly failed: (error: unknown) => void) {}

	beginFrame(): void {
		this.frame++;
		this.wanted.clear();
	}

	/* The tile, if it is here; otherwise it is wanted. */
	want(layer: number, level: number, lane: number, index: number): Tile | undefined {
		const key = keyOf(layer, level, lane, index);
		const entry = this.entries.get(key);
		if (entry) {
			entry.used = this.frame;
			if (entry.askAgain === 0 || entry.askAgain > performance.now())
				return entry.tile;
		}
		this.wanted.set(key, { layer, level, lane, index });
		return entry && entry.tile;
	}

	/* The tile, if it is here. */
	peek(layer: number, level: number, lane: number, index: number): Tile | undefined {
		const entry = this.entries.get(keyOf(layer, level, lane, index));
		if (entry)
			entry.used = this.frame;
		return entry && entry.tile;
	}

	/* True if all tiles that the last frame wanted are here. */
	idle(): boolean {
		return this.wanted.size === 0 && this.requests.size === 0;
	}

	flush(): void {
		const asked = new Set<string>();
		for (const request of this.requests) {
			let needed = false;
			for (const key of request.keys) {
				if (this.wanted.has(key)) {
					needed = true;
					asked.add(key);
				}
			}
			if (!needed) {
				request.controller.abort();
				this.requests.delete(request);
			}
		}
		if (performance.now() < this.pauseUntil)
			return;
		for (const group of this.groups(asked)) {
			if (this.requests.size >= MAX_REQUESTS)
				break;
			this.send(group);
		}
	}

	/* The trace has grown at `ns`: tiles that reach there are shown, and asked for again. */
	expire(ns: number): void {
		for (const [key, entry] of this.entries) {
			const [, level, , index] = key.split('/').map(Number);
			if ((index + 1) * CELLS * Math.pow(2, level) > ns)
				entry.askAgain = 1;
		}
	}

	/* Wanted tiles as requests: lanes that miss the same tiles of a level go together. */
	private groups(asked: Set<string>): Wanted[][] {
		const lanes = new Map<string, Wanted[]>();
		for (const [key, wanted] of this.wanted) {
			if (asked.has(key))
				continue;
			const laneKey = wanted.layer + '/' + wanted.level + '/' + wanted.lane;
			const list = lanes.get(laneKey);
			if (list)
				list.push(wanted);
			else
				lanes.set(laneKey, [wanted]);
		}
		const groups = new Map<string, Wanted[]>();
		for (const list of lanes.values()) {
			list.sort((a, b) => a.index - b.index);
			const last = list[list.length - 1];
			const key = [last.layer, last.level, list[0].index, last.index, list[0].lane > SECOND_TRACE].join('/');
			const group = groups.get(key) || [];
			group.push(...list);
			groups.set(key, group);
		}
		const result: Wanted[][] = [];
		for (const group of groups.values()) {
			const n = Math.min(MAX_RUN, 1 + Math.max(...group.map((w) => w.index)) - group[0].index);
			const perRequest = Math.max(1, Math.floor(MAX_REQUEST_TILES / n));
			const ids = [...new Set(group.map((w) => w.lane))];
			for (let i = 0; i < ids.length; i += perRequest) {
				const part = new Set(ids.slice(i, i + perRequest));
				result.push(group.filter((w) => part.has(w.lane)));
			}
		}
		return result;
	}

	private send(group: Wanted[]): void {
		const { layer, level } = group[0];
		const first = Math.min(...group.map((w) => w.index));
		const n = Math.min(MAX_RUN, 1 + Math.max(...group.map((w) => w.index)) - first);
		const lanes = [...new Set(group.map((w) => w.lane))];
		const request: Request = {
			keys: new Set(group.filter((w) => w.index < first + n).map((w) => keyOf(layer, level, w.lane, w.index))),
			controller: new AbortController(),
		};
		this.requests.add(request);
		this.api.tiles(level, first, n, lanes, layer, request.controller.signal).then((answer) => {
			const again = performance.now() + AGAIN_MS;
			for (const lane of answer.lanes) {
				lane.tiles.forEach((tile, i) => {
					this.entries.set(keyOf(layer, level, lane.lane, first + i),
						{ tile, used: this.frame, askAgain: tile.exact ? 0 : again });
				});
			}
			this.version++;
			this.evict();
			if (answer.lanes.some((lane) => lane.tiles.some((tile) => !tile.exact)))
				setTimeout(this.changed, AGAIN_MS + 10);
		}).catch((error) => {
			if (isAbort(error))
				return;
			// Do not ask a failing server in each frame.
			this.pauseUntil = performance.now() + 2000;
			setTimeout(this.changed, 2050);
			this.failed(error);
		}).finally(() => {
			this.requests.delete(request);
			this.changed();
		});
	}

	private evict(): void {
		if (this.entries.size <= MAX_TILES)
			return;
		const order = [...this.entries].sort((a, b) => a[1].used - b[1].used);
		for (const [key, entry] of order.slice(0, this.entries.size - MAX_TILES * 3 / 4)) {
			if (entry.used < this.frame - 1)
				this.entries.delete(key);
		}
	}
}
