// SPDX-License-Identifier: Apache-2.0
// Rows of lanes, for views with few of them: a cache of chunks. A chunk is a power of two of nanoseconds long; a lane with few rows is
// one chunk.
import { Integer } from '../core/json';
import { Api, LaneInfo } from './api';
import { Cache, Loaded } from './cache';

export const ROWS_LIMIT = 4000;   // rows of a chunk; a chunk with more is drawn from tiles
export const CHUNK_LEVELS = 11;   // a chunk has 2^11 cells of its level
const WHOLE = 3000;               // a lane with at most so many rows is one chunk
const MAX_ROWS = 400000;          // some 40 bytes each: 16 MB

export interface RowChunk {
	start: Float64Array;
	end: Float64Array;
	key: Uint32Array;
	depth: Uint8Array;
	op: Integer[];
	value: Float64Array | undefined; // of counters
	more: boolean;
}

interface Wanted {
	lane: number;
	layer: number;
	from: number;
	to: number;
}

export interface ChunkRange {
	key: string;
	from: number;
	to: number;
}

export class RowCache extends Cache<RowChunk, Wanted> {
	private readonly large = new Set<number>(); // lanes that have more rows than was known

	/* `deeper` is called with the nesting of rows that arrived. */
	constructor(private readonly api: Api, changed: () => void, failed: (error: unknown) => void,
		private readonly deeper: (lane: number, depth: number) => void) {
		super(changed, failed, MAX_ROWS);
	}

	/* The chunks of a lane that cover [from, to) in a view of `level`. */
	ranges(lane: LaneInfo, layer: number, level: number, from: number, to: number, duration: number): ChunkRange[] {
		if (lane.rows <= WHOLE && !layer && !this.large.has(lane.id))
			return [{ key: layer + '/' + lane.id + '/all', from: 0, to: duration + 1 }];
		const size = Math.pow(2, level + CHUNK_LEVELS);
		const result: ChunkRange[] = [];
		for (let i = Math.max(0, Math.floor(from / size)); i * size < to && result.length < 64; i++)
			result.push({ key: layer + '/' + lane.id + '/' + level + '/' + i, from: i * size, to: (i + 1) * size });
		return result;
	}

	want(lane: number, layer: number, range: ChunkRange): RowChunk | undefined {
		return this.get(range.key, () => ({ lane, layer, from: range.from, to: range.to }));
	}

	protected groups(missing: Map<string, Wanted>): Array<Map<string, Wanted>> {
		return [...missing].map((entry) => new Map([entry]));
	}

	protected size(chunk: RowChunk): number {
		return chunk.start.length;
	}

	protected async load(group: Map<string, Wanted>, signal: AbortSignal): Promise<Array<Loaded<RowChunk>>> {
		const [[key, { lane, layer, from, to }]] = group;
		const rows = await this.api.rows(lane, from, to, ROWS_LIMIT, layer, signal);
		const chunk: RowChunk = {
			start: Float64Array.from(rows.start), end: Float64Array.from(rows.end),
			key: Uint32Array.from(rows.key), depth: Uint8Array.from(rows.depth), op: rows.op,
			value: rows.value && Float64Array.from(rows.value, (value) => (value === null ? NaN : Number(value))),
			more: rows.more === true,
		};
		if (chunk.more && key.endsWith('/all'))
			this.large.add(lane);
		this.deeper(lane, 1 + chunk.depth.reduce((most, depth) => Math.max(most, depth), 0));
		return [{ key, value: chunk, to, askAgain: 0 }];
	}
}
