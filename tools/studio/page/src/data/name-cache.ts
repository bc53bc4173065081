// SPDX-License-Identifier: Apache-2.0
// Names by key: asked for in batches, cleaned once, bounded. Keys of a second trace are its own: they are numbers from SECOND on here.
import { clean, shorten } from '../core/names';
import { hashText } from '../core/colours';
import { Api, isAbort } from './api';

export const SECOND = 0x100000000; // added to the keys of the second trace
const BATCH = 200;
const PAUSE_MS = 2000;
const MAX_NAMES = 50000;
const MAX_CHARACTERS = 300; // of a name in the timeline

export interface Name {
	full: string;   // cleaned and cut: for labels
	short: string;
	type: string;
	colour: number; // hash of the name, so that both of two traces have the same colour
}

const UNKNOWN: Name = { full: '', short: '', type: '', colour: 0 };

export class NameCache {
	private readonly names = new Map<number, Name>();
	private wanted = new Set<number>();
	private busy = false;
	private pauseUntil = 0;
	version = 0; // changes when names arrive

	constructor(private readonly api: Api, private readonly changed: () => void) {}

	/* The name; an empty one until the server has answered. */
	get(key: number): Name {
		const name = this.names.get(key);
		if (name)
			return name;
		if (key !== 0)
			this.wanted.add(key);
		return UNKNOWN;
	}

	flush(): void {
		if (this.busy || this.wanted.size === 0 || performance.now() < this.pauseUntil)
			return;
		const trace = (this.wanted.values().next().value as number) >= SECOND ? 1 : 0;
		const keys = [...this.wanted].filter((key) => (key >= SECOND ? 1 : 0) === trace).slice(0, BATCH);
		this.busy = true;
		this.api.names(keys.map((key) => key - trace * SECOND), trace).then((answer) => {
			if (this.names.size > MAX_NAMES)
				this.names.clear();
			for (const key of keys) {
				const found = answer[key - trace * SECOND];
				const text = found && typeof found.name === 'string' ? found.name : '';
				this.names.set(key, {
					full: clean(text.replace(/^void /, ''), MAX_CHARACTERS), short: clean(shorten(text), MAX_CHARACTERS),
					type: found ? clean(found.type, 40) : '', colour: text ? hashText(text) : key,
				});
				this.wanted.delete(key);
			}
			this.version++;
		}).catch((error) => {
			// Rows stay without names; a frame after the pause asks again.
			if (isAbort(error))
				return;
			this.wanted.clear();
			this.pauseUntil = performance.now() + PAUSE_MS;
			setTimeout(this.changed, PAUSE_MS + 50);
		}).finally(() => {
			this.busy = false;
			this.changed();
		});
	}
}
