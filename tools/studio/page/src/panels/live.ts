// SPDX-License-Identifier: Apache-2.0
// A session that is being recorded: follows its end, stops, starts, and captures windows. Asks "live".
import { button, el, facts, number } from '../core/dom';
import { clean } from '../core/names';
import { LiveState } from '../data/api';
import { Panel } from './panel';

const POLL_MS = 500;
const MOST_HELD_MS = 3000; // the view waits so long for its colours

export class LivePanel extends Panel {
	readonly id = 'live';
	readonly title = 'Live';
	private readonly state = el('div', { id: 'live-state' });
	private readonly answer = el('p', { class: 'dim', role: 'status' });
	private readonly follow = el('input', { type: 'checkbox', id: 'follow' });
	private grew: ((duration: number) => Promise<void>) | undefined;
	private isBehind = (): boolean => false;
	private isLate = false; // the trace has grown since the view moved to its end
	private movedAt = 0;
	private timer: ReturnType<typeof setTimeout> | undefined;
	private readonly buttons: HTMLButtonElement[] = [];
	private isStopped = false; // by this page: the file grows on, without rows of the program

	/*
	 * Asks again and again; `grew` is called when the trace has become longer. A view whose colours are not here yet, by `isBehind`, stays
	 * for a while: a short one would move on before each answer.
	 */
	start(grew: (duration: number) => Promise<void>, isBehind: () => boolean): void {
		this.grew = grew;
		this.isBehind = isBehind;
		this.follow.checked = true;
		void this.poll();
	}

	update(): void {
		if (this.buttons.length)
			return;
		const act = (title: string, action: 'start' | 'stop' | 'capture' | 'capture-end'): void => {
			this.buttons.push(button(title, () => void this.act(title, action)));
		};
		act('Stop recording', 'stop');
		act('Start recording', 'start');
		act('Capture a window', 'capture');
		act('End the window', 'capture-end');
		this.root.replaceChildren(el('div', { class: 'toolbar' }, el('label', { class: 'check' }, this.follow, ' follow the end'),
			...this.buttons), this.state, this.answer);
	}

	private async act(title: string, action: 'start' | 'stop' | 'capture' | 'capture-end'): Promise<void> {
		try {
			await this.model.api.control(action);
			if (action === 'start' || action === 'stop')
				this.isStopped = action === 'stop';
			this.answer.className = 'dim';
			this.answer.textContent = title + ': done.';
		} catch (error) {
			this.answer.className = 'bad';
			this.answer.textContent = clean(error instanceof Error ? error.message : error, 300);
		}
	}

	private async poll(): Promise<void> {
		try {
			const live = await this.model.api.live();
			this.show(live);
			const longer = live.duration_ns > this.model.view.duration;
			const isOver = live.state === 'ended';
			const length = this.model.view.span;
			// The last rows may come without a later end.
			if (this.grew && (longer || isOver))
				await this.grew(live.duration_ns);
			this.isLate ||= longer;
			const waits = !isOver && this.isBehind() && performance.now() - this.movedAt < MOST_HELD_MS;
			if (this.isLate && this.follow.checked && !waits) {
				this.isLate = false;
				this.movedAt = performance.now();
				this.model.show(live.duration_ns - length * 0.95, live.duration_ns + length * 0.05);
			}
			if (isOver)
				return;
		} catch (error) {
			this.state.replaceChildren(el('p', { class: 'bad' }, clean(error instanceof Error ? error.message : error, 300)));
		}
		this.timer = setTimeout(() => void this.poll(), POLL_MS);
	}

	stop(): void {
		if (this.timer)
			clearTimeout(this.timer);
	}

	private show(live: LiveState): void {
		const isOver = live.state === 'ended';
		for (const control of this.buttons)
			control.disabled = isOver;
		this.follow.disabled = isOver;
		if (isOver)
			this.answer.textContent = '';
		this.state.replaceChildren(facts([['State', isOver || !this.isStopped ? clean(live.state, 40) : 'stopped by this page'], ['Duration', number('ns', live.duration_ns)],
			['Rows', number('count', live.rows)]]));
	}
}
