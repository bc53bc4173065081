// SPDX-License-Identifier: Apache-2.0
// The gaps of the view with their causes, for colours by cause. Asks "gaps" about the view, for each gap that is a pixel long or longer.
// An answer lists a part of the gaps if they are many: then shorter windows are asked for.
import { Integer } from '../core/json';
import { GapMark, Model } from '../model';

const LISTED = 2000;    // of an answer: 1 MB
const MOST_ASKED = 64;  // answers for a view
const MOST_KEPT = 100000; // between two views: those of a view are kept together
const MOST_WINDOWS = 32;
const PAUSE_MS = 250;   // between two readings of a view that moves on

interface Window {
	trace: number;
	from: number;
	to: number;
	least: number; // gaps of this length or longer are known
}

interface Gaps {
	gaps?: number;
	longest?: Array<{ start_ns: Integer; end_ns: Integer; session?: number; device?: number; stream?: number;
		parts?: Array<{ cause: string }> }>;
}

export class GapMarks {
	private windows: Window[] = [];
	private readonly marks = new Map<string, GapMark>();
	private reading: { windows: Window[]; controller: AbortController } | undefined;
	private again = false; // the view has moved a little since the reading began
	private grown = 0; // how often the trace has grown
	private answered: Window[] = []; // the last ones whose gaps were read, before the trace grew or after

	/* `counted` is called with the number of gaps in view. */
	constructor(private readonly model: Model, private readonly counted: (n: number) => void) {}

	get busy(): boolean {
		return this.reading !== undefined;
	}

	/* True if the gaps of the view have not come since it moved. */
	get isBehind(): boolean {
		return !this.isNear(this.answered);
	}

	/* The trace has grown: a gap at its end may have become known. */
	forget(): void {
		this.windows = [];
		this.grown++;
	}

	/* The view has moved: the server stops reading for a view that is gone. */
	moved(): void {
		if (this.reading && !this.isNear(this.reading.windows))
			this.stop();
	}

	stop(): void {
		this.reading?.controller.abort();
		this.reading = undefined;
		this.again = false;
	}

	/*
	 * Reads the gaps of the view. A question about much of the view goes on, and the rest is asked for after it: else the gaps of a trace
	 * that grows and is followed never came.
	 */
	async read(): Promise<void> {
		if (this.reading && this.isNear(this.reading.windows)) {
			this.again = true;
			return;
		}
		this.stop();
		const reading = { windows: this.wanted(), controller: new AbortController() };
		const { signal } = reading.controller;
		this.reading = reading;
		try {
			do {
				this.again = false;
				reading.windows = this.wanted();
				await this.readMissing(signal);
			} while (this.again && !signal.aborted);
		} finally {
			if (this.reading === reading)
				this.reading = undefined;
		}
	}

	private async readMissing(signal: AbortSignal): Promise<void> {
		const { grown } = this;
		const begun = performance.now();
		let missing = this.missing();
		if (missing.length && this.marks.size > MOST_KEPT) {
			this.marks.clear();
			this.windows = [];
			missing = this.missing();
		}
		for (const window of missing)
			await this.ask(window, signal);
		if (signal.aborted)
			return;
		this.answered = this.reading?.windows || [];
		this.counted(this.inView());
		// The gaps of a trace that grows are read half of the time at most.
		if (this.again && grown !== this.grown)
			await new Promise((resolve) => setTimeout(resolve, Math.max(PAUSE_MS, performance.now() - begun)));
	}

	/* True if the windows have half of the view or more. */
	private isNear(windows: Window[]): boolean {
		return this.wanted().every((wanted) => windows.some((window) => window.trace === wanted.trace && window.least < 2 * wanted.least &&
			Math.min(window.to, wanted.to) - Math.max(window.from, wanted.from) >= (wanted.to - wanted.from) / 2));
	}

	private missing(): Window[] {
		return this.wanted().filter((window) => !this.windows.some((known) => known.trace === window.trace &&
			known.from <= window.from && known.to >= window.to && known.least <= window.least));
	}

	/* The view as a window of each trace. */
	private wanted(): Window[] {
		const { view } = this.model;
		const least = Math.max(1, Math.floor(view.nsPerPixel));
		return (this.model.trace.traces > 1 ? [0, 1] : [0]).map((trace) => {
			const offset = this.model.offsetOfTrace(trace);
			return { trace, from: Math.max(0, Math.floor(view.from - offset)), to: Math.ceil(view.to - offset), least };
		}).filter((window) => window.to > window.from);
	}

	private async ask(window: Window, signal: AbortSignal): Promise<void> {
		const parts: Array<readonly [number, number]> = [[window.from, window.to]];
		const { grown } = this;
		for (let asked = 0; parts.length && asked < MOST_ASKED; asked++) {
			const [from, to] = parts.shift() as readonly [number, number];
			const answer = await this.model.api.ask<Gaps>('gaps', { from: { ns: from, from_start: true }, to: { ns: to, from_start: true },
				least_ns: window.least, limit: LISTED, stacks: false }, window.trace, signal);
			this.add(answer, window.trace);
			const all = answer.gaps || 0;
			const n = all > LISTED ? Math.min(to - from, Math.ceil(1.5 * all / LISTED)) : 0;
			for (let i = 0; i < n && n > 1; i++)
				parts.push([from + Math.floor((to - from) * i / n), from + Math.floor((to - from) * (i + 1) / n)]);
		}
		if (grown === this.grown)
			this.windows = [...this.windows.slice(1 - MOST_WINDOWS), window];
	}

	private add(answer: Gaps, trace: number): void {
		for (const gap of answer.longest || []) {
			const lane = this.model.findLane(gap.session, gap.device, gap.stream, undefined, trace);
			const start = this.model.relative(gap.start_ns, trace);
			if (lane)
				this.marks.set(lane.id + '/' + start, { lane: lane.id, start, end: this.model.relative(gap.end_ns, trace),
					cause: gap.parts && gap.parts[0] ? gap.parts[0].cause : 'unknown' });
		}
		this.model.gaps = [...this.marks.values()].sort((a, b) => a.start - b.start);
		this.model.emit('overlay');
	}

	private inView(): number {
		const { view } = this.model;
		return this.model.gaps.filter((gap) => {
			const offset = this.model.offsetOf(gap.lane);
			return gap.end + offset > view.from && gap.start + offset < view.to && gap.end - gap.start >= view.nsPerPixel;
		}).length;
	}
}
