// SPDX-License-Identifier: Apache-2.0
// A bounded cache of answers. The drawing wants values, frame by frame; flush() asks the server for the missing ones, and cancels
// requests that no wanted value needs. The caches of tiles and of rows are such caches.
import { isAbort } from './api';

const MAX_REQUESTS = 4;
const PAUSE_MS = 2000;  // a failing server is not asked in each frame
const REST_MS = 150;    // a view that has not moved for so long rests
const GROWN = 1;        // as `askAgain`: the trace has grown

interface Entry<V> {
	value: V;
	used: number;     // the last frame that wanted it
	to: number;       // the value depends on the trace until this time
	askAgain: number; // the time from which it is asked for again; 0: never
}

interface Request {
	keys: Set<string>;
	controller: AbortController;
	grownAt: number;  // the trace has grown at this time since the request was sent
}

/* A value of an answer. */
export interface Loaded<V> {
	key: string;
	value: V;
	to: number;
	askAgain: number;
}

export abstract class Cache<V, W> {
	private readonly entries = new Map<string, Entry<V>>();
	private readonly wanted = new Map<string, W>();
	private readonly requests = new Set<Request>();
	private frame = 0;
	private pauseUntil = 0;
	private restFrom = 0;
	private waking: ReturnType<typeof setTimeout> | undefined;
	private total = 0;

	/* `changed` is called when answers arrive; `failed` when the server answers with an error. */
	constructor(protected readonly changed: () => void, private readonly failed: (error: unknown) => void,
		private readonly most: number) {}

	/* Wanted values as requests: each is sent on its own. */
	protected abstract groups(missing: Map<string, W>): Array<Map<string, W>>;
	protected abstract load(group: Map<string, W>, signal: AbortSignal): Promise<Array<Loaded<V>>>;
	/* The size of a value; all sizes add up to at most `most`. */
	protected abstract size(value: V): number;

	beginFrame(): void {
		this.frame++;
		this.wanted.clear();
	}

	/* True if all values that the last frame wanted are here. */
	idle(): boolean {
		return this.wanted.size === 0 && this.requests.size === 0;
	}

	/* The view moves: what is here is asked for again when the view rests, unless the trace has grown. */
	moved(): void {
		this.restFrom = performance.now() + REST_MS;
	}

	/* The value, if it is here; otherwise it is wanted. */
	protected get(key: string, wanted: () => W): V | undefined {
		const entry = this.entries.get(key);
		if (entry) {
			entry.used = this.frame;
			if (entry.askAgain === 0 || entry.askAgain > performance.now() || (entry.askAgain !== GROWN && this.moves()))
				return entry.value;
		}
		this.wanted.set(key, wanted());
		return entry && entry.value;
	}

	/* True if the view moves; a frame follows when it rests. */
	private moves(): boolean {
		const rest = this.restFrom - performance.now();
		if (rest > 0 && this.waking === undefined) {
			this.waking = setTimeout(() => {
				this.waking = undefined;
				this.changed();
			}, rest + 1);
		}
		return rest > 0;
	}

	/* The value, if it is here. */
	protected find(key: string): V | undefined {
		const entry = this.entries.get(key);
		if (entry)
			entry.used = this.frame;
		return entry && entry.value;
	}

	flush(): void {
		const missing = new Map(this.wanted);
		for (const request of this.requests) {
			let isNeeded = false;
			for (const key of request.keys)
				isNeeded = missing.delete(key) || isNeeded;
			if (!isNeeded) {
				request.controller.abort();
				this.requests.delete(request);
			}
		}
		if (performance.now() < this.pauseUntil || !missing.size)
			return;
		for (const group of this.groups(missing)) {
			if (this.requests.size >= MAX_REQUESTS)
				break;
			void this.send(group);
		}
	}

	/* The trace has grown at `ns`: values that reach there are shown, and asked for again. */
	expire(ns: number): void {
		for (const entry of this.entries.values()) {
			if (entry.to > ns)
				entry.askAgain = GROWN;
		}
		for (const request of this.requests)
			request.grownAt = Math.min(request.grownAt, ns);
	}

	private async send(group: Map<string, W>): Promise<void> {
		const request: Request = { keys: new Set(group.keys()), controller: new AbortController(), grownAt: Infinity };
		this.requests.add(request);
		try {
			for (const { key, value, to, askAgain } of await this.load(group, request.controller.signal))
				this.put(key, { value, to, used: this.frame, askAgain: to > request.grownAt ? GROWN : askAgain });
			this.evict();
		} catch (error) {
			if (!isAbort(error)) {
				this.pauseUntil = performance.now() + PAUSE_MS;
				setTimeout(this.changed, PAUSE_MS + 50);
				this.failed(error);
			}
		} finally {
			this.requests.delete(request);
			this.changed();
		}
	}

	private put(key: string, entry: Entry<V>): void {
		const old = this.entries.get(key);
		this.total += this.size(entry.value) - (old ? this.size(old.value) : 0);
		this.entries.set(key, entry);
	}

	private evict(): void {
		if (this.total <= this.most)
			return;
		const order = [...this.entries].sort((a, b) => a[1].used - b[1].used);
		for (const [key, entry] of order) {
			if (this.total <= this.most * 3 / 4 || entry.used >= this.frame - 1)
				break;
			this.total -= this.size(entry.value);
			this.entries.delete(key);
		}
	}
}
