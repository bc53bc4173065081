// SPDX-License-Identifier: Apache-2.0
// Tiles by layer, level, lane and number: a cache.
import { CELLS, Tile } from '../core/tile';
import { Api } from './api';
import { Cache, Loaded } from './cache';

const MAX_TILES = 3000;    // 4 KiB each, 12 MiB
const MAX_REQUEST_TILES = 192; // 768 KiB of answer
const MAX_RUN = 64;            // tiles of a lane in one request
const SECOND_TRACE = 1000000;  // lanes of a second trace have ids from here on
const AGAIN_MS = 400;      // tiles that are not exact yet are asked for again

interface Wanted {
	layer: number;
	level: number;
	lane: number;
	index: number;
}

function keyOf(layer: number, level: number, lane: number, index: number): string {
	return layer + '/' + level + '/' + lane + '/' + index;
}

/* How many tiles a request for these has, from the first one on. */
function runOf(group: Iterable<Wanted>): [number, number] {
	let [first, last] = [Infinity, 0];
	for (const { index } of group) {
		first = Math.min(first, index);
		last = Math.max(last, index);
	}
	return [first, Math.min(MAX_RUN, 1 + last - first)];
}

export class TileCache extends Cache<Tile, Wanted> {
	version = 0; // changes when tiles arrive

	constructor(private readonly api: Api, changed: () => void, failed: (error: unknown) => void) {
		super(changed, failed, MAX_TILES);
	}

	/* The tile, if it is here; otherwise it is wanted. */
	want(layer: number, level: number, lane: number, index: number): Tile | undefined {
		return this.get(keyOf(layer, level, lane, index), () => ({ layer, level, lane, index }));
	}

	/* The tile, if it is here. */
	peek(layer: number, level: number, lane: number, index: number): Tile | undefined {
		return this.find(keyOf(layer, level, lane, index));
	}

	protected size(): number {
		return 1;
	}

	/* Lanes that miss the same tiles of a level go together. */
	protected groups(missing: Map<string, Wanted>): Array<Map<string, Wanted>> {
		const lanes = new Map<string, Wanted[]>();
		for (const wanted of missing.values()) {
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
		const result: Array<Map<string, Wanted>> = [];
		for (const group of groups.values()) {
			const [first, n] = runOf(group);
			const perRequest = Math.max(1, Math.floor(MAX_REQUEST_TILES / n));
			const ids = [...new Set(group.map((w) => w.lane))];
			for (let i = 0; i < ids.length; i += perRequest) {
				const part = new Set(ids.slice(i, i + perRequest));
				result.push(new Map(group.filter((w) => part.has(w.lane) && w.index < first + n)
					.map((w) => [keyOf(w.layer, w.level, w.lane, w.index), w])));
			}
		}
		return result;
	}

	protected async load(group: Map<string, Wanted>, signal: AbortSignal): Promise<Array<Loaded<Tile>>> {
		const [{ layer, level }] = group.values();
		const [first, n] = runOf(group.values());
		const lanes = [...new Set([...group.values()].map((w) => w.lane))];
		const isHere = [...group.keys()].every((key) => this.find(key));
		const answer = await this.api.tiles(level, first, n, lanes, layer, isHere, signal);
		const again = performance.now() + AGAIN_MS;
		const loaded = answer.lanes.flatMap(({ lane, tiles }) => tiles.map((tile, i) => ({
			key: keyOf(layer, level, lane, first + i), value: tile, to: (first + i + 1) * CELLS * Math.pow(2, level),
			askAgain: tile.exact ? 0 : again,
		})));
		this.version++;
		if (loaded.some(({ askAgain }) => askAgain))
			setTimeout(this.changed, AGAIN_MS + 10);
		return loaded;
	}
}
