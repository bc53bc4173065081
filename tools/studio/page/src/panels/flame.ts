// SPDX-License-Identifier: Apache-2.0
// The flame graph: elements that a click or the Enter key zooms. The boxes come from the server's picture, which is parsed as inert XML
// and never becomes part of the page.
import { Box, boxesOf, focusBoxes, PictureRect } from '../core/flame';
import { css, oklch } from '../core/colours';
import { el } from '../core/dom';
import { clean, shorten } from '../core/names';

const ROW = 18;
const LEAST = 0.0015; // boxes narrower than this part of the width are not drawn
const COLOURS: { readonly [kind: string]: string } = {
	python: css(oklch(0.74, 0.10, 75)), native: css(oklch(0.72, 0.08, 245)), operation: css(oklch(0.74, 0.10, 150)),
	other: css(oklch(0.72, 0.01, 250)), all: css(oklch(0.72, 0.01, 250)),
};

function rectsOf(svg: string): PictureRect[] {
	const text = svg.replace(/<style[\s\S]*?<\/style>/g, '').replace(/ style="[^"]*"/g, '');
	const document = new DOMParser().parseFromString(text, 'image/svg+xml');
	const rects: PictureRect[] = [];
	for (const rect of Array.from(document.querySelectorAll('.flame rect'))) {
		const title = rect.querySelector('title');
		rects.push({
			x: Number(rect.getAttribute('x')), y: Number(rect.getAttribute('y')), width: Number(rect.getAttribute('width')),
			name: (title && title.textContent) || '', className: rect.getAttribute('class') || 'x',
		});
	}
	return rects;
}

export function flameOfPicture(svg: string): HTMLElement {
	const boxes = boxesOf(rectsOf(svg));
	if (!boxes.length)
		return el('p', { class: 'dim' }, 'No operations with stacks in this span.');
	const box = el('div', { class: 'flame-box', role: 'group', label: 'Flame graph. Tab moves through the frames, Enter zooms.' });
	const inner = el('div', { class: 'flame' });
	inner.style.position = 'relative';
	const note = el('p', { class: 'dim' }, 'Click a frame to zoom into it; click it again to zoom out.');
	let focus: Box | undefined;
	/* `chosen` gets the focus: the key that zoomed zooms out again. */
	const draw = (chosen?: Box): void => {
		let again: HTMLElement | undefined;
		const shown = focusBoxes(boxes, focus).filter((item) => item.width >= LEAST);
		inner.replaceChildren(...shown.map((item) => {
			const label = clean(item.kind === 'operation' || item.kind === 'native' ? shorten(item.name) : item.name, 160);
			const title = clean(item.name, 2000) + '\n' + clean(item.value, 80);
			const element = el('button', { type: 'button', class: 'frame', title, label: title }, item.width > 0.015 ? label : '');
			element.style.left = item.left * 100 + '%';
			element.style.width = item.width * 100 + '%';
			element.style.top = item.depth * ROW + 'px';
			element.style.backgroundColor = COLOURS[item.kind] || COLOURS.other;
			element.addEventListener('click', () => {
				const original = boxes.find((other) => other.name === item.name && other.depth === item.depth &&
					other.value === item.value);
				focus = focus && original === focus ? undefined : original;
				if (focus && focus.depth === 0)
					focus = undefined;
				draw(original);
				note.textContent = focus ? clean(focus.name, 300) + ': ' + clean(focus.value, 80) :
					'Click a frame to zoom into it; click it again to zoom out.';
			});
			if (chosen && item.name === chosen.name && item.depth === chosen.depth && item.value === chosen.value)
				again = element;
			return element;
		}));
		again?.focus({ preventScroll: true });
		inner.style.height = (1 + shown.reduce((most, item) => Math.max(most, item.depth), 0)) * ROW + 'px';
	};
	draw();
	box.append(inner);
	return el('div', {}, note, box);
}
