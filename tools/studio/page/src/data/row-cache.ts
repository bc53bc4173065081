// SPDX-License-Identifier: Apache-2.0
// Rows of lanes, for views with few of them: a bounded cache of chunks. A chunk is a power of two of nanoseconds long; a lane with
// few rows is one chunk.
import { Integer } from '../core/json';
import { Api, isAbort, LaneInfo } from './api';

export const ROWS_LIMIT = 4000;   // rows of a chunk; a chunk with more is drawn from tiles
export const CHUNK_LEVELS = 11;   // a chunk has 2^11 cells of its level
const WHOLE = 3000;               // a lane with at most so many rows is one chunk
const MAX_ROWS = 400000;          // some 40 bytes each: 16 MB
const MAX_REQUESTS = 4;

export interface RowChunk {
	start: Float64Array;
	end: Float64Array;
	key: Uint32Array;
	depth: Uint8Array;
	op: Integer[];
	value: Float64Array | undefined; // of counters
	more: boolean;
}

interface Entry {
	chunk: RowChunk;
	used: number;
	to: number;
	stale: boolean;
}

interface Wanted {
	key: string;
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

export class RowCache {
	private readonly entries = new Map<string, Entry>();
	private wanted = new Map<string, Wanted>();
	private readonly requests = new Map<string, AbortController>();
	private frame = 0;
	private total = 0;
	private pauseUntil = 0;
	private readonly large = new Set<number>(); // lanes that have more rows than was known

	/* `deeper` is called with the nesting of rows that arrived. */
	constructor(private readonly api: Api, private readonly changed: () => void,
		private readonly failed: (error: unknown) => void,
		private readonly deeper: (lane: number, depth: number) => void) {}

	beginFrame(): void {
		this.frame++;
		this.wanted.clear();
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
		const entry = this.entries.get(range.key);
		if (entry) {
			entry.used = this.frame;
			if (!entry.stale)
				return entry.chunk;
		}
		this.wanted.set(range.key, { key: range.key, lane, layer, from: range.from, to: range.to });
		return entry && entry.chunk;
	}

	idle(): boolean {
		return this.wanted.size === 0 && this.requests.size === 0;
	}

	flush(): void {
		for (const [key, controller] of this.requests) {
			if (!this.wanted.has(key)) {
				controller.abort();
				this.requests.delete(key);
			}
		}
		if (performance.now() < this.pauseUntil)
			return;
		for (const wanted of this.wanted.values()) {
			if (this.requests.size >= MAX_REQUESTS)
				break;
			if (!this.requests.has(wanted.key))
				this.send(wanted);
		}
	}

	/* The trace has grown at `ns`: chunks that reach there are shown, and asked for again. */
	expire(ns: number): void {
		for (const entry of this.entries.values())
			entry.stale = entry.stale || entry.to > ns;
	}

	private send(wanted: Wanted): void {
		const controller = new AbortController();
		this.requests.set(wanted.key, controller);
		this.api.rows(wanted.lane, wanted.from, wanted.to, ROWS_LIMIT, wanted.layer, controller.signal).then((rows) => {
			const chunk: RowChunk = {
				start: Float64Array.from(rows.start), end: Float64Array.from(rows.end),
				key: Uint32Array.from(rows.key), depth: Uint8Array.from(rows.depth), op: rows.op,
				value: rows.value && Float64Array.from(rows.value), more: rows.more === true,
			};
			if (chunk.more && wanted.key.endsWith('/all'))
				this.large.add(wanted.lane);
			this.deeper(wanted.lane, 1 + chunk.depth.reduce((most, depth) => Math.max(most, depth), 0));
			const old = this.entries.get(wanted.key);
			this.total += chunk.start.length - (old ? old.chunk.start.length : 0);
			this.entries.set(wanted.key, { chunk, used: this.frame, to: wanted.to, stale: false });
			this.evict();
		}).catch((error) => {
			if (isAbort(error))
				return;
			this.pauseUntil = performance.now() + 2000;
			setTimeout(this.changed, 2050);
			this.failed(error);
		}).finally(() => {
			if (this.requests.get(wanted.key) === controller)
				this.requests.delete(wanted.key);
			this.changed();
		});
	}

	private evict(): void {
		if (this.total <= MAX_ROWS)
			return;
		const order = [...this.entries].sort((a, b) => a[1].used - b[1].used);
		for (const [key, entry] of order) {
			if (this.total <= MAX_ROWS * 3 / 4 || entry.used >= this.frame - 1)
				break;
			this.total -= entry.chunk.start.length;
			this.entries.delete(key);
		}
	}
}
