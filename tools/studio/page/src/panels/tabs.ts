// SPDX-License-Identifier: Apache-2.0
// The row of tabs and the panel that is open. With two traces, a switch chooses whose panels are shown. Arrow keys move between tabs, as the ARIA pattern of tabs demands.
import { byId, el, link } from '../core/dom';
import { Panel } from './panel';

export class Tabs {
	private readonly buttons = new Map<string, HTMLButtonElement>();
	private readonly body = byId('panel-body');
	private readonly scrolled = new Map<string, number>();
	private readonly sides: HTMLButtonElement[] = [];
	private readonly old = new Set<Panel>(); // whose answers a live trace has outgrown
	private readonly again = el('p', { id: 'look-again', class: 'dim' }, 'The recording has grown since this was read. ',
		link('Look again', 'Read the trace as it is now', () => this.renew()));
	private shown: Panel | undefined;
	current = '';
	side = 0; // the trace whose panels are shown

	/* `second` has the panels of the second trace; a tab that lacks one has the same panel for both. */
	constructor(private readonly panels: ReadonlyArray<Panel>, private readonly second: ReadonlyArray<Panel>,
		private readonly changed: () => void) {
		const list = byId('tabs');
		if (second.length)
			this.makeSides();
		for (const panel of panels) {
			const tab = el('button', { type: 'button', role: 'tab', id: 'tab-' + panel.id, tabindex: -1,
				onclick: () => this.open(panel.id) }, panel.title);
			tab.setAttribute('aria-selected', 'false');
			tab.setAttribute('aria-controls', 'panel-body');
			this.buttons.set(panel.id, tab);
			list.append(tab);
		}
		list.addEventListener('keydown', (event) => {
			const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			const index = panels.findIndex((panel) => panel.id === this.current);
			let next = step ? index + step : event.key === 'Home' ? 0 : event.key === 'End' ? panels.length - 1 : undefined;
			if (next === undefined)
				return;
			event.preventDefault();
			event.stopPropagation();
			next = (next + panels.length) % panels.length;
			this.open(panels[next].id);
			(this.buttons.get(panels[next].id) as HTMLButtonElement).focus();
		});
		// A narrow window shows some tabs: the selected one is among them.
		new ResizeObserver(() => this.buttons.get(this.current)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })).observe(list);
	}

	private makeSides(): void {
		const box = byId('sides');
		box.hidden = false;
		for (const [side, text] of ['A', 'B'].entries()) {
			const choice = el('button', { type: 'button', class: 'side', label: side ? 'Panels of the second trace' :
				'Panels of the first trace', title: side ? 'Panels of the second trace, B' : 'Panels of the first trace, A',
			onclick: () => this.setSide(side) }, text);
			this.sides.push(choice);
			box.append(choice);
		}
		this.press();
	}

	private press(): void {
		this.sides.forEach((choice, side) => choice.setAttribute('aria-pressed', String(side === this.side)));
	}

	/* Shows the panels of a trace. */
	setSide(side: number): void {
		if (side === this.side || !this.second.length)
			return;
		this.side = side;
		this.press();
		if (this.current)
			this.open(this.current);
	}

	private panel(id: string): Panel {
		return (this.side && this.second.find((other) => other.id === id)) || this.panels.find((other) => other.id === id) ||
			this.panels[0];
	}

	/* Opens a panel; an unknown name opens the first one. */
	open(id: string, focus = false): void {
		const panel = this.panel(id);
		if (this.shown !== panel) {
			if (this.current)
				this.scrolled.set(this.current, this.body.scrollTop);
			this.shown = panel;
			this.current = panel.id;
			for (const [other, tab] of this.buttons) {
				tab.setAttribute('aria-selected', String(other === panel.id));
				tab.tabIndex = other === panel.id ? 0 : -1;
			}
			const tab = this.buttons.get(panel.id) as HTMLButtonElement;
			tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
			this.body.setAttribute('aria-labelledby', tab.id);
			if (this.old.delete(panel))
				panel.forget();
			this.body.replaceChildren(panel.root);
			this.body.scrollTop = this.scrolled.get(panel.id) || 0;
		}
		panel.refresh();
		if (focus)
			this.body.focus();
		this.changed();
	}

	/* A live trace has grown: panels of the whole trace ask again when they are opened, and the one that is open on request. */
	grown(): void {
		for (const panel of [...this.panels, ...this.second].filter((one) => one.ofWhole))
			this.old.add(panel);
		if (this.shown && this.old.has(this.shown) && !this.again.isConnected)
			this.body.prepend(this.again);
	}

	private renew(): void {
		const { shown } = this;
		this.again.remove();
		if (!shown)
			return;
		this.old.delete(shown);
		shown.forget();
		shown.refresh();
		this.body.focus();
	}

	/* Marks panels stale: they ask again when they are open. */
	invalidate(...ids: string[]): void {
		for (const panel of [...this.panels, ...this.second]) {
			if (ids.includes(panel.id))
				panel.invalidate();
		}
	}

	refresh(): void {
		if (this.shown)
			this.shown.refresh();
	}

	badge(id: string, count: number): void {
		const tab = this.buttons.get(id);
		if (tab && count > 0)
			tab.append(el('span', { class: 'badge bad' }, String(count)));
	}
}
