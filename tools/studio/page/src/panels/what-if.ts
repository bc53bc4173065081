// SPDX-License-Identifier: Apache-2.0
// What if: edits of the program's work, emulated; the new timeline appears under the old one. Asks "what-if".
import { append, button, el, number } from '../core/dom';
import { clean, spelled } from '../core/names';
import { formatDuration, formatShare } from '../core/time';
import { ApiError, WhatIf } from '../data/api';
import { Panel } from './panel';

const PROGRESS_MS = 300;

const EXAMPLES: ReadonlyArray<readonly [string, string]> = [
	['kernel NAME=2x', 'kernels named NAME (with * and ?) run twice as fast'],
	['copy htod=2x', 'copies run faster: htod, dtoh, dtod, ptop, or *'],
	['host=2x', 'the host runs faster between its calls'],
	['call NAME=2x', 'calls named NAME run faster, but not their waits'],
	['launch-latency=5us', 'time from a call to the start of its operation'],
	['no-sync NAME', 'calls named NAME do not wait'],
	['graph', 'consecutive launches become one graph'],
	['merge 7,8', 'operations of stream 8 move to stream 7'],
	['pinned', 'pageable copies run as fast as pinned ones'],
	['multiprocessors=66', 'multiprocessors of the device'],
];

/* The doubts about a result, in the words of `tsctl replay`. */
const DOUBTS: { readonly [kind: string]: string } = {
	without_call: 'operations without their calls: they run after the earlier operations of their streams',
	without_device: 'calls without a recorded operation: none runs',
	without_record: 'waits for events without a record: they do not wait',
	started_before: 'operations started before their dependency ended',
	not_waited: 'calls returned before their apparent dependency ended',
	backwards: 'times run backwards',
	unexplained: 'operations were delayed by unrecorded causes, over 1 ms each',
	threads_joined: 'starts and ends of threads were inferred: in the emulation the main thread starts and joins them',
	let_go: 'waits in a circle, or for an event that never came, were released',
};

interface Answer {
	emulated?: { emulated: { makespan_ns: number }; edited?: { makespan_ns: number } };
	complaint?: string;
}

export class WhatIfPanel extends Panel {
	readonly id = 'what-if';
	readonly title = 'What if';
	private readonly edits: string[] = [];
	private readonly list = el('div', { class: 'toolbar', label: 'Edits' });
	private readonly result = el('div', { id: 'what-if-result' });
	private readonly progress = el('div', { id: 'what-if-progress', class: 'toolbar' });
	private whole: AbortController | undefined; // of the emulation of the whole trace
	private isLong = false; // the layer is that of a long emulation
	private input: HTMLInputElement | undefined;

	update(): void {
		if (this.input)
			return;
		const input = el('input', { id: 'what-if-edit', type: 'text', label: 'Edit, such as kernel NAME=2x' });
		input.placeholder = 'kernel saxpy=2x';
		input.spellcheck = false;
		input.autocomplete = 'off';
		this.input = input;
		const form = el('form', { class: 'toolbar' }, el('label', {}, 'Edit ', input));
		const add = button('Add and run', () => undefined, { class: 'primary' });
		add.type = 'submit';
		form.append(add, button('Clear', () => this.clearEdits()));
		form.append(button('The selected kernel twice as fast', () => {
			const { selection } = this.model;
			const name = selection && this.model.nameOf(selection.lane, selection.key);
			if (name && name.full && name.type === 'kernel')
				this.add('kernel *' + name.full.slice(0, 100).replace(/[=]/g, '?') + '*=2x');
			else
				this.result.replaceChildren(el('p', { class: 'dim' }, 'Select a kernel in the timeline first.'));
		}));
		form.addEventListener('submit', (event) => {
			event.preventDefault();
			if (input.value.trim())
				this.add(input.value.trim());
			input.value = '';
		});
		const help = el('ul', { class: 'examples', label: 'Examples of edits' });
		for (const [edit, text] of EXAMPLES)
			help.append(el('li', {}, button(edit, () => {
				input.value = edit;
				input.focus();
			}), el('span', { class: 'dim' }, ' ' + text)));
		this.root.replaceChildren(form, this.list, this.result, this.progress, el('h3', {}, 'Examples'), help);
	}

	private add(edit: string): void {
		this.edits.push(edit);
		this.run(edit);
	}

	/* A refused edit leaves the list, where it would spoil each further one, and is in the field again. */
	private refuse(edit: string): void {
		this.edits.splice(this.edits.lastIndexOf(edit), 1);
		this.listEdits();
		if (this.input && !this.input.value)
			this.input.value = edit;
	}

	private listEdits(): void {
		this.list.replaceChildren(...this.edits.map((edit, i) => el('span', { class: 'card' }, clean(edit, 200), ' ',
			button('\u00d7', () => {
				this.edits.splice(i, 1);
				this.run();
			}, { class: 'link', label: 'Remove the edit ' + edit }))));
	}

	private clearEdits(): void {
		this.edits.length = 0;
		this.run();
	}

	/* Emulates the part in view, and then the whole trace if it is longer. `added`: the edit that is new. */
	private run(added?: string): void {
		this.stopWhole();
		this.listEdits();
		if (!this.edits.length) {
			this.cancel();
			this.result.replaceChildren();
			this.model.setEnd(0);
			this.setLayer(0);
			return;
		}
		const edits = [...this.edits];
		if (this.isLong)
			this.setLayer(0); // the server frees a long layer before it emulates again
		void this.ask(this.result, 'Emulating\u2026', async (signal) => {
			const answer = await this.model.api.whatIf(edits, this.inView(), false, signal).catch((error) => {
				if (error instanceof ApiError && error.status === 404)
					return this.emulate(signal);
				if (error instanceof ApiError && error.status === 400 && added !== undefined && !signal.aborted)
					this.refuse(added);
				throw error;
			});
			if (!signal.aborted)
				this.take(answer);
			if (answer.part && !signal.aborted)
				void this.runWhole(edits);
			return this.show(answer);
		});
	}

	private inView(): readonly [number, number] {
		const { view } = this.model;
		return [Math.max(0, Math.floor(view.from)), Math.ceil(Math.max(1, view.to))];
	}

	private take(answer: WhatIf): void {
		this.isLong = (answer.windows || 1) > 1;
		this.setLayer(answer.layer);
		this.model.setEnd(answer.end_ns ?? 0);
	}

	private stopWhole(): void {
		if (this.whole)
			this.whole.abort();
		this.whole = undefined;
		this.progress.replaceChildren();
	}

	/* Emulates the whole trace, with progress; the part's result stays until the end. */
	private async runWhole(edits: string[]): Promise<void> {
		this.stopWhole();
		const controller = new AbortController();
		const { signal } = controller;
		const bar = el('progress', { label: 'Emulation of the whole trace' });
		const share = el('span', { id: 'what-if-share' });
		this.whole = controller;
		bar.max = 1;
		this.progress.replaceChildren(el('span', {}, 'Emulating the whole trace '), bar, share, button('Stop', () => {
			this.stopWhole();
			this.progress.replaceChildren(button('Emulate the whole trace', () => void this.runWhole(edits)));
		}, { id: 'what-if-stop' }));
		const timer = setInterval(() => void this.model.api.whatIfProgress(signal).then(({ done, all }) => {
			if (signal.aborted || !all)
				return;
			bar.value = done / all;
			share.textContent = ' ' + Math.floor(100 * done / all) + ' %';
		}).catch(() => undefined), PROGRESS_MS);
		try {
			const answer = await this.model.api.whatIf(edits, this.inView(), true, signal);
			if (signal.aborted)
				return;
			this.take(answer);
			this.result.replaceChildren();
			append(this.result, ...this.show(answer));
			this.progress.replaceChildren();
		} catch (error) {
			if (!signal.aborted)
				this.progress.replaceChildren(el('p', { class: 'bad' }, error instanceof Error ? error.message : String(error)));
		} finally {
			clearInterval(timer);
			if (this.whole === controller)
				this.whole = undefined;
		}
	}

	/* The length alone, from a server that has no layers. */
	private async emulate(signal: AbortSignal): Promise<WhatIf> {
		const answers = await this.model.api.askLines<Answer>('replay', { executor: 'emulate', what_if: this.edits }, 0, signal);
		const report = answers.map((answer) => answer.emulated).find((found) => found !== undefined);
		const complaint = answers.map((answer) => answer.complaint).find((found) => found);
		if (!report)
			throw new Error(complaint || 'the emulation has no result');
		return { layer: 0, before_ns: report.emulated.makespan_ns, after_ns: (report.edited || report.emulated).makespan_ns };
	}

	private setLayer(layer: number): void {
		this.model.layer = layer;
		this.model.tree.setLayer(layer);
		this.model.emit('lanes');
		this.model.emit('view');
	}

	private doubts(answer: WhatIf): HTMLElement | undefined {
		const doubts = Object.entries(answer.doubts || {});
		if (!doubts.length)
			return undefined;
		return el('div', { id: 'what-if-doubts' }, el('h3', {}, 'Uncertain'), el('ul', {}, ...doubts.map(([kind, n]) => el('li', {
			data: { doubt: kind } }, kind === 'damaged' ? 'Damaged blocks of the file were left out.' : el('span', {}, number('count', n), ' ' +
			(DOUBTS[kind] || clean(spelled(kind), 60)))))));
	}

	private show(answer: WhatIf): Array<HTMLElement | undefined> {
		const gain = answer.before_ns - answer.after_ns;
		this.shell.announce('What if: ' + formatDuration(answer.after_ns) + ' instead of ' + formatDuration(answer.before_ns));
		const part = answer.part ? el('div', { class: 'toolbar' }, el('span', {}, 'The part from ', number('at', answer.start_ns), ' to ',
			number('at', answer.stop_ns), ' was emulated.'), button('Emulate the part in view', () => this.run())) :
			(answer.windows || 1) > 1 ? el('div', { class: 'toolbar' }, el('span', {}, 'The whole trace was emulated in ',
				number('count', answer.windows), ' windows. Far from the view, only shares of time are known.'),
			button('Emulate the part in view', () => this.run())) : undefined;
		return [el('p', { class: 'lead' }, number('ns', answer.after_ns), ' instead of ', number('ns', answer.before_ns), ': ',
			el('strong', { class: gain > 0 ? 'good' : gain < 0 ? 'bad' : '' }, gain === 0 ? 'no change' :
				formatDuration(Math.abs(gain)) + (gain > 0 ? ' less' : ' more') + ' (' +
				formatShare(Math.abs(gain) / Math.max(1, answer.before_ns)) + ')'), '.'), part,
		gain === 0 && answer.edited ? el('p', {}, 'The latest end does not depend on what was changed. Waits of threads for one another, such as ' +
			'locks, are not recorded: the time of a thread between two calls stays as it was.') : undefined,
		this.doubts(answer),
		answer.layer ? el('p', { class: 'dim' }, 'The emulated timeline is drawn under each lane, named "what if".') :
			el('p', { class: 'dim' }, 'Both lengths are emulated.'),
		answer.edited !== undefined ? el('p', { class: 'dim' }, number('count', answer.edited), ' calls and operations were changed.') : undefined];
	}
}
