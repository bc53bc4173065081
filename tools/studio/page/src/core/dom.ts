// SPDX-License-Identifier: Apache-2.0
// Elements from data. Text is set by textContent only; styles are set by classes and by the CSSOM, as the content security policy
// demands.
import { clean } from './names';
import { formatBytes, formatCount, formatDuration, formatInstant, formatShare } from './time';

export type Child = Node | string | undefined | null | false;

export interface Attributes {
	class?: string;
	id?: string;
	title?: string;
	type?: string;
	role?: string;
	label?: string;    // aria-label
	tabindex?: number;
	data?: { [name: string]: string | number };
	onclick?: (event: MouseEvent) => void;
}

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]):
	HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	if (attributes.class)
		element.className = attributes.class;
	if (attributes.id)
		element.id = attributes.id;
	if (attributes.title)
		element.title = clean(attributes.title, 2000);
	if (attributes.type)
		element.setAttribute('type', attributes.type);
	if (attributes.role)
		element.setAttribute('role', attributes.role);
	if (attributes.label)
		element.setAttribute('aria-label', clean(attributes.label, 500));
	if (attributes.tabindex !== undefined)
		element.tabIndex = attributes.tabindex;
	for (const [name, value] of Object.entries(attributes.data || {}))
		element.dataset[name] = String(value);
	if (attributes.onclick)
		element.addEventListener('click', attributes.onclick as EventListener);
	append(element, ...children);
	return element;
}

export function append(element: Element, ...children: Child[]): void {
	for (const child of children) {
		if (child !== undefined && child !== null && child !== false)
			element.append(child);
	}
}

export function clear(element: Element): void {
	element.replaceChildren();
}

export function byId<T extends HTMLElement>(id: string): T {
	const element = document.getElementById(id);
	if (!element)
		throw new Error('no element ' + id);
	return element as T;
}

/* A number for people; data-value has the exact one, as the JSON has it. */
export function number(kind: 'ns' | 'at' | 'bytes' | 'count' | 'share', value: unknown, exact: unknown = value): HTMLElement {
	if (typeof value !== 'number')
		return el('span', { class: 'num' }, value === undefined ? '' : clean(value, 30));
	const text = kind === 'ns' ? formatDuration(value) : kind === 'at' ? formatInstant(value) :
		kind === 'bytes' ? formatBytes(value) : kind === 'share' ? formatShare(value) : formatCount(value);
	const title = kind === 'ns' || kind === 'at' ? formatCount(value) + ' ns' :
		kind === 'bytes' ? formatCount(value) + ' bytes' : '';
	return el('span', { class: 'num', title, data: { value: String(exact), kind } }, text);
}

/* The text as nodes: in a narrow column a line ends behind a word of a name or of a path, not within it. */
export function breakable(text: string): Node[] {
	return text.split(/(?<=[^_/][_/]|,|::)(?=[^_/,:\s])/).flatMap((part, i) => [...(i ? [document.createElement('wbr')] : []), document.createTextNode(part)]);
}

export function button(text: string, onclick: (event: MouseEvent) => void, attributes: Attributes = {}): HTMLButtonElement {
	return el('button', { type: 'button', onclick, ...attributes }, text);
}

/* A button that looks like a link: it moves the view or opens a panel. */
export function link(text: string, title: string, onclick: (event: MouseEvent) => void): HTMLButtonElement {
	return el('button', { type: 'button', class: 'link', title, onclick }, ...breakable(text));
}

export interface Column<T> {
	head: string;
	class?: string; // "number", "wide"
	cell: (item: T) => Child;
}

export function table<T>(caption: string, columns: ReadonlyArray<Column<T>>, items: ReadonlyArray<T>,
	attributes: (item: T) => Attributes = () => ({})): HTMLTableElement {
	const head = el('tr');
	for (const column of columns) {
		const cell = el('th', { class: column.class }, column.head);
		cell.scope = 'col';
		head.append(cell);
	}
	const body = el('tbody');
	for (const item of items) {
		const row = el('tr', attributes(item));
		for (const column of columns)
			row.append(el('td', { class: column.class }, column.cell(item)));
		body.append(row);
	}
	if (!items.length) {
		const cell = el('td', { class: 'dim' }, 'none');
		cell.colSpan = columns.length;
		body.append(el('tr', {}, cell));
	}
	return el('table', {}, el('caption', {}, caption), el('thead', {}, head), body);
}

/* A list of terms and values. */
export function facts(pairs: ReadonlyArray<readonly [string, Child]>): HTMLDListElement {
	const list = el('dl', { class: 'facts' });
	for (const [term, value] of pairs) {
		if (value !== undefined && value !== null && value !== false && value !== '')
			list.append(el('dt', {}, term), el('dd', {}, value));
	}
	return list;
}

/* A name in full; long names are cut in the middle of the page by CSS, and whole in the title. */
export function nameText(name: unknown, max = 300): HTMLElement {
	const text = clean(name);
	return el('span', { class: 'name', title: text.length > 40 ? text : '' }, ...breakable(clean(name, max)));
}
