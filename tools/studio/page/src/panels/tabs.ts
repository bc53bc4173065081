// SPDX-License-Identifier: Apache-2.0
// The row of tabs and the panel that is open. Arrow keys move between tabs, as the ARIA pattern of tabs demands.
import { byId, el } from '../core/dom';
import { Panel } from './panel';

export class Tabs {
	private readonly buttons = new Map<string, HTMLButtonElement>();
	private readonly body = byId('panel-body');
	private readonly scrolled = new Map<string, number>();
	current = '';

	constructor(private readonly panels: ReadonlyArray<Panel>, private readonly changed: () => void) {
		const list = byId('tabs');
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
	}

	/* Opens a panel; an unknown name opens the first one. */
	open(id: string, focus = false): void {
		const panel = this.panels.find((other) => other.id === id) || this.panels[0];
		if (this.current !== panel.id) {
			if (this.current)
				this.scrolled.set(this.current, this.body.scrollTop);
			this.current = panel.id;
			for (const [other, tab] of this.buttons) {
				tab.setAttribute('aria-selected', String(other === panel.id));
				tab.tabIndex = other === panel.id ? 0 : -1;
			}
			const tab = this.buttons.get(panel.id) as HTMLButtonElement;
			tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
			this.body.setAttribute('aria-labelledby', tab.id);
			this.body.replaceChildren(panel.root);
			this.body.scrollTop = this.scrolled.get(panel.id) || 0;
		}
		panel.refresh();
		if (focus)
			this.body.focus();
		this.changed();
	}

	/* Marks panels stale: they ask again when they are open. */
	invalidate(...ids: string[]): void {
		for (const panel of this.panels) {
			if (ids.includes(panel.id))
				panel.invalidate();
		}
	}

	refresh(): void {
		const panel = this.panels.find((other) => other.id === this.current);
		if (panel)
			panel.refresh();
	}

	badge(id: string, count: number): void {
		const tab = this.buttons.get(id);
		if (tab && count > 0)
			tab.append(el('span', { class: 'badge bad' }, String(count)));
	}
}
