// SPDX-License-Identifier: Apache-2.0
// Names of the lanes, left of the canvas: elements for the visible lanes only, so that a thousand lanes cost no more than the screen
// has. A lane with children is a button that folds it.
import { el } from '../core/dom';
import { clean } from '../core/names';
import { formatCount } from '../core/time';
import { Model } from '../model';
import { hasManyLevels, hiddenLevels, Lane } from './lanes';

const MARK = 2; // characters of the mark of a second trace

function kindLabel(lane: Lane): string {
	switch (lane.info.kind) {
	case 'kernel_events': return 'kernel events';
	case 'host_samples': return 'host samples';
	default: return lane.info.kind;
	}
}

/* A name that is too long loses its middle: processes and threads of one program differ in the number at the end. */
function nameElement(name: string, before: number): HTMLElement {
	const end = / \((?:process|thread) \d+\)$/.exec(name);
	if (!end)
		return el('span', { class: 'lane-name' }, name);
	const first = el('span', { class: 'lane-start' }, name.slice(0, end.index));
	first.style.maxWidth = 'max(6ch, calc(100% - ' + Math.ceil(0.9 * end[0].length + before) + 'ch))';
	return el('span', { class: 'lane-name' }, first, end[0]);
}

export class Headers {
	private readonly shown = new Map<string, HTMLElement>();
	private refocus: string | undefined; // a lane whose button had the focus when the lanes changed

	constructor(private readonly root: HTMLElement, private readonly model: Model, private readonly focusLane: (lane: Lane) => void) {
		model.on('lanes', () => {
			for (const [key, element] of this.shown) {
				if (element.contains(document.activeElement))
					this.refocus = key;
				element.remove();
			}
			this.shown.clear();
		});
	}

	draw(scroll: number, height: number): void {
		const wanted = new Set<string>();
		let before: HTMLElement | undefined;
		for (const lane of this.model.tree.visible) {
			if (lane.y + lane.height < scroll || lane.y > scroll + height)
				continue;
			const key = lane.info.id + '/' + lane.layer;
			wanted.add(key);
			let element = this.shown.get(key);
			if (!element) {
				element = this.make(lane);
				this.shown.set(key, element);
				// The tab key visits the lanes from top to bottom.
				if (before)
					before.after(element);
				else
					this.root.prepend(element);
			}
			before = element;
			element.style.transform = 'translateY(' + Math.round(lane.y - scroll) + 'px)';
			element.classList.toggle('focused', this.model.focusedLane === lane.info.id && !lane.layer);
		}
		for (const [key, element] of this.shown) {
			if (!wanted.has(key) && !element.contains(document.activeElement)) {
				element.remove();
				this.shown.delete(key);
			}
		}
		if (this.refocus !== undefined) {
			this.shown.get(this.refocus)?.querySelector('button')?.focus({ preventScroll: true });
			this.refocus = undefined;
		}
	}

	/* Shows the process of a lane alone, or all again. */
	isolate(lane: Lane): void {
		const { tree } = this.model;
		const root = tree.rootOf(lane.info.id);
		if (!root)
			return;
		tree.isolate(root);
		this.model.emit('lanes');
		this.model.emit('view');
	}

	fold(lane: Lane): void {
		const own = this.model.tree.byId.get(lane.info.id);
		if (!own || (!own.children.length && !hasManyLevels(own)))
			return;
		if (own.children.length)
			this.model.tree.fold(own);
		else
			this.model.tree.expand(own.info.id, !own.expanded);
		this.model.emit('lanes');
	}

	/* The button for the levels that are not drawn. */
	private levels(lane: Lane, name: string): HTMLElement {
		const more = hiddenLevels(lane);
		const text = more ? '+' + more + (more === 1 ? ' level' : ' levels') : 'fewer levels';
		const button = el('button', { type: 'button', class: 'levels', label: text + ' of ' + name, onclick: () => this.fold(lane) }, text);
		button.setAttribute('aria-expanded', String(lane.expanded));
		return button;
	}

	private make(lane: Lane): HTMLElement {
		const { info } = lane;
		const name = lane.layer ? 'what if' : clean(info.name, 200) || kindLabel(lane);
		const group = info.kind === 'process' || info.kind === 'device' || info.kind === 'group';
		const title = name + '\n' + (info.rows ? kindLabel(lane) + ', ' + formatCount(info.rows) + ' rows' :
			kindLabel(lane) + (lane.children.length ? ', ' + lane.children.length + ' lanes' : '')) + (info.trace ? ', second trace' : '');
		const element = el('div', { class: 'header kind-' + info.kind + (group ? ' group' : '') + (info.trace ? ' second' : this.model.trace.traces > 1 ? ' first' : '') +
			(lane.layer ? ' layer' : ''), title, data: { lane: info.id } });
		element.style.height = lane.height + 'px';
		element.style.paddingLeft = 4 + Math.min(lane.level, 4) * 12 + 'px';
		if (lane.children.length) {
			const fold = el('button', { type: 'button', class: 'fold', label: (lane.folded ? 'Unfold ' : 'Fold ') + name,
				title: lane.level === 0 ? 'With Shift: only this process, or all of them (o)' : '',
				onclick: (event) => (event.shiftKey ? this.isolate(lane) : this.fold(lane)) }, lane.folded ? '\u25b8' : '\u25be');
			fold.setAttribute('aria-expanded', String(!lane.folded));
			element.append(fold);
		} else {
			element.append(el('span', { class: 'fold' }));
		}
		element.append(nameElement(name, info.trace ? MARK : 0));
		if (hasManyLevels(lane) && !lane.children.length)
			element.append(this.levels(lane, name));
		element.addEventListener('click', (event) => {
			if (!(event.target instanceof HTMLButtonElement))
				this.focusLane(lane);
		});
		element.addEventListener('dblclick', () => this.fold(lane));
		return element;
	}
}
