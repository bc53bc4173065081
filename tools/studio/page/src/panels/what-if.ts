// SPDX-License-Identifier: Apache-2.0
// What if: edits of the program's work, emulated; the new timeline appears under the old one. Asks "what-if".
import { button, el, number } from '../core/dom';
import { clean } from '../core/names';
import { formatDuration, formatShare } from '../core/time';
import { ApiError, WhatIf } from '../data/api';
import { Panel } from './panel';

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
		this.root.replaceChildren(form, this.list, this.result, el('h3', {}, 'Examples'), help);
	}

	private add(edit: string): void {
		this.edits.push(edit);
		this.run();
	}

	private clearEdits(): void {
		this.edits.length = 0;
		this.run();
	}

	/* Emulates the part in view if the trace is long, unless `whole`. */
	private run(whole = false): void {
		this.list.replaceChildren(...this.edits.map((edit, i) => el('span', { class: 'card' }, clean(edit, 200), ' ',
			button('\u00d7', () => {
				this.edits.splice(i, 1);
				this.run();
			}, { class: 'link', label: 'Remove the edit ' + edit }))));
		if (!this.edits.length) {
			this.cancel();
			this.result.replaceChildren();
			this.setLayer(0);
			return;
		}
		void this.ask(this.result, 'Emulating\u2026', async (signal) => {
			const { view } = this.model;
			const part = whole ? undefined : [Math.max(0, Math.floor(view.from)), Math.ceil(Math.max(1, view.to))] as const;
			const answer = await this.model.api.whatIf(this.edits, part, signal).catch((error) => {
				if (error instanceof ApiError && error.status === 404)
					return this.emulate(signal);
				throw error;
			});
			this.setLayer(answer.layer);
			if (answer.end_ns !== undefined)
				this.model.view.setDuration(Math.max(this.model.trace.duration_ns, answer.end_ns));
			return this.show(answer);
		});
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

	private show(answer: WhatIf): Array<HTMLElement | undefined> {
		const gain = answer.before_ns - answer.after_ns;
		this.shell.announce('What if: ' + formatDuration(answer.after_ns) + ' instead of ' + formatDuration(answer.before_ns));
		const part = answer.part ? el('div', { class: 'toolbar' }, el('span', {}, 'The part from ', number('at', answer.start_ns), ' to ',
			number('at', answer.stop_ns), ' was emulated.'), button('Emulate the whole trace', () => this.run(true)),
		button('Emulate the part in view', () => this.run())) : undefined;
		return [el('p', { class: 'lead' }, number('ns', answer.after_ns), ' instead of ', number('ns', answer.before_ns), ': ',
			el('strong', { class: gain > 0 ? 'good' : gain < 0 ? 'bad' : '' }, gain === 0 ? 'no change' :
				formatDuration(Math.abs(gain)) + (gain > 0 ? ' less' : ' more') + ' (' +
				formatShare(Math.abs(gain) / Math.max(1, answer.before_ns)) + ')'), '.'), part,
		gain === 0 && answer.edited ? el('p', {}, 'The latest end does not depend on what was changed.') : undefined,
		answer.layer ? el('p', { class: 'dim' }, 'The emulated timeline is drawn under each lane, named "what if".') :
			el('p', { class: 'dim' }, 'Both lengths are emulated.'),
		answer.edited !== undefined ? el('p', { class: 'dim' }, number('count', answer.edited), ' calls and operations were changed.') : undefined];
	}
}
