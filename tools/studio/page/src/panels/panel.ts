// SPDX-License-Identifier: Apache-2.0
// The base of the panels: one answer at a time, cancelled if the panel asks again; pending and failed answers are shown alike.
import { append, clear, el } from '../core/dom';
import { Integer } from '../core/json';
import { clean } from '../core/names';
import { isAbort } from '../data/api';
import { Model } from '../model';

/* Services that the panels share; main.ts provides them. */
export interface Shell {
	readonly model: Model;
	open(tab: string, focus?: boolean): void;
	/* Selects the row of an operation and moves the view to it. Each session of a trace numbers its operations by itself. */
	goToOperation(op: Integer, trace: number, session: number | undefined): Promise<void>;
	/* Shows a span of the trace with a margin and puts the cursor there. */
	goToSpan(from: number, to: number, lane?: number): void;
	explainGap(op: Integer, trace: number, session: number | undefined): void;
	announce(text: string): void;
	fail(error: unknown): void;
}

export abstract class Panel {
	abstract readonly id: string;
	abstract readonly title: string;
	readonly root = el('div', { class: 'panel' });
	private controller: AbortController | undefined;
	protected stale = true; // what is shown does not match the page's state

	/* With two traces, each has panels of its own. */
	constructor(protected readonly shell: Shell, protected readonly trace = 0) {}

	protected get model(): Model {
		return this.shell.model;
	}

	/* The cursor as a time of the panel's trace. */
	protected get cursor(): number | undefined {
		const { cursor } = this.model;
		return cursor === undefined ? undefined : Math.max(0, Math.round(cursor - this.model.offsetOfTrace(this.trace)));
	}

	/* A line if a time is after the end of the panel's trace: the view has a margin, and the other trace may be longer. */
	protected afterEnd(at: number): HTMLElement | undefined {
		const { duration_ns: first, second_duration_ns: second } = this.model.trace;
		return at > (this.trace ? second ?? first : first) ?
			el('p', { class: 'dim after-end' }, 'The cursor is after the end of the trace.') : undefined;
	}

	/* The selected span, or else the view, as times of the panel's trace. */
	protected window(): [number, number] {
		const { view, span } = this.model;
		const offset = this.model.offsetOfTrace(this.trace);
		return [Math.max(0, Math.floor((span ? span[0] : view.from) - offset)),
			Math.min(view.duration, Math.ceil((span ? span[1] : view.to) - offset))];
	}

	protected moments(from: number, to: number): { from: object; to: object } {
		return { from: { ns: from, from_start: true }, to: { ns: to, from_start: true } };
	}

	/* The class of a column with numbers of streams: with several processes it has their names, too. */
	protected get streamClass(): string | undefined {
		return this.model.trace.lanes.filter((lane) => lane.kind === 'process' && (lane.trace || 0) === this.trace).length > 1 ? undefined : 'number';
	}

	/* The name of a session's process, with a comma before; '' if the trace has one session. */
	protected process(session: number | undefined): string {
		const processes = this.model.trace.lanes.filter((lane) => lane.kind === 'process' && (lane.trace || 0) === this.trace);
		const own = processes.length > 1 ? processes.find((lane) => lane.session === session) : undefined;
		return own ? ', ' + clean(own.name, 60) : '';
	}

	/* Called when the panel becomes visible, and when it is visible and stale. */
	abstract update(): void;

	/* True if the panel's answer is about the whole trace, so that it is old when a live trace has grown. */
	readonly ofWhole: boolean = false;

	/* Forgets the answer: the next update asks again. */
	forget(): void {
		this.stale = true;
	}

	/* Marks the panel stale; it updates when it is visible. */
	invalidate(): void {
		this.stale = true;
	}

	refresh(): void {
		if (!this.stale)
			return;
		this.stale = false;
		this.update();
	}

	cancel(): void {
		if (this.controller)
			this.controller.abort();
		this.controller = undefined;
	}

	/* Runs `work` with a signal that ends with the next call; errors are shown in `place`. */
	protected async ask(place: HTMLElement, waiting: string, work: (signal: AbortSignal) => Promise<Array<Node | undefined>>):
		Promise<void> {
		this.cancel();
		const controller = new AbortController();
		this.controller = controller;
		// The signal ends the questions that the answer's parts ask later, too.
		await this.fill(place, waiting, work, controller.signal);
	}

	/* As ask(), beside other questions of the panel: `signal` is that of the panel's question, or one of its own. */
	protected async fill(place: HTMLElement, waiting: string, work: (signal: AbortSignal) => Promise<Array<Node | undefined>>,
		signal: AbortSignal): Promise<void> {
		clear(place);
		append(place, el('p', { class: 'pending' }, waiting));
		place.setAttribute('aria-busy', 'true');
		try {
			const nodes = await work(signal);
			if (signal.aborted)
				return;
			clear(place);
			append(place, ...nodes);
		} catch (error) {
			if (isAbort(error) || signal.aborted)
				return;
			clear(place);
			append(place, el('p', { class: 'bad' }, error instanceof Error ? error.message : String(error)));
		} finally {
			place.removeAttribute('aria-busy');
		}
	}
}
