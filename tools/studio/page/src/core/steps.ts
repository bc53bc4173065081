// SPDX-License-Identifier: Apache-2.0
// Long lists in order of time: the steps of a critical path, and a search in lists of rows.

/* The steps of a critical path in order of time, as columns: a path may be long. Times count from the start of the lane's trace. */
export class Steps {
	length = 0;
	lane = new Uint32Array(256);
	start = new Float64Array(256);
	end = new Float64Array(256);
	private part = new Uint8Array(256);
	private readonly parts: string[] = [];

	push(lane: number, start: number, end: number, part: string): void {
		const i = this.length++;
		if (i === this.lane.length) {
			const grow = <T extends Uint8Array | Uint32Array | Float64Array>(old: T, made: T): T => {
				made.set(old);
				return made;
			};
			this.lane = grow(this.lane, new Uint32Array(2 * i));
			this.start = grow(this.start, new Float64Array(2 * i));
			this.end = grow(this.end, new Float64Array(2 * i));
			this.part = grow(this.part, new Uint8Array(2 * i));
		}
		let number = this.parts.indexOf(part);
		if (number < 0)
			number = Math.min(255, this.parts.push(part) - 1);
		this.lane[i] = lane;
		this.start[i] = start;
		this.end[i] = end;
		this.part[i] = number;
	}

	partOf(i: number): string {
		return this.parts[this.part[i]];
	}

	/* The first step that ends after `ns`. */
	after(ns: number): number {
		let low = 0;
		let high = this.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.end[middle] <= ns)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
}

/* The first entry that starts at `start` or later. */
export function firstFrom(list: ReadonlyArray<{ start: number }>, start: number): number {
	let low = 0;
	let high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
