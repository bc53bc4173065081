// SPDX-License-Identifier: Apache-2.0
// The flame graph: elements that a click or the Enter key zooms.
import { css, oklch } from '../core/colours';
import { el } from '../core/dom';
import { drawnFrame, FlameAnswer, FlameNode, flameOf, nameOf, sumOf, weightText, zoomTo } from '../core/flame';
import { clean, shorten } from '../core/names';

const ROW = 18;
const LEAST = 0.0015; // frames narrower than this part of the width are not drawn
const COLOURS: { readonly [kind: string]: string } = {
	python: css(oklch(0.72, 0.08, 245)), native: css(oklch(0.74, 0.10, 75)), operation: css(oklch(0.74, 0.10, 150)),
	other: css(oklch(0.72, 0.01, 250)),
};

const KINDS: ReadonlyArray<readonly [string, string]> = [['python', 'Python'], ['native', 'native code'], ['operation', 'kernels, copies and sets'],
	['other', 'other']];

/* The colours are those of the pictures that tsctl draws. */
function legend(): HTMLElement {
	return el('p', { class: 'dim legend' }, ...KINDS.map(([kind, text]) => {
		const swatch = el('span', { class: 'swatch' });
		swatch.style.backgroundColor = COLOURS[kind];
		return el('span', {}, swatch, text);
	}));
}

export function flameGraph(answer: FlameAnswer): HTMLElement {
	if (!answer.frames.length)
		return el('p', { class: 'dim' }, 'No operations with stacks in this span.');
	const root = flameOf(answer.frames);
	const box = el('div', { class: 'flame-box', role: 'group', label: 'Flame graph. Tab moves through the frames, Enter zooms.' });
	const inner = el('div', { class: 'flame' });
	inner.style.position = 'relative';
	const note = el('p', { class: 'dim' });
	let focus = root;
	const frameOf = (node: FlameNode): HTMLElement => {
		const { kind } = node.data;
		const name = nameOf(node.data);
		const width = node.x1 - node.x0;
		const label = clean(kind === 'operation' || kind === 'native' ? shorten(name) : name, 160);
		const title = clean(name, 2000) + '\n' + weightText(answer.unit, sumOf(node), sumOf(root));
		const element = el('button', { type: 'button', class: 'frame', title, label: title, data: { value: sumOf(node), depth: node.depth } },
			width > 0.015 ? label : '');
		element.style.left = node.x0 * 100 + '%';
		element.style.width = width * 100 + '%';
		element.style.top = node.depth * ROW + 'px';
		element.style.backgroundColor = COLOURS[kind || 'other'] || COLOURS.other;
		element.addEventListener('click', () => {
			focus = focus === node ? root : node;
			draw(node);
		});
		return element;
	};
	/* `chosen` gets the focus: the key that zoomed zooms out again. Zoomed out it may be too narrow; then a caller gets the focus. */
	const draw = (chosen?: FlameNode): void => {
		const shown = zoomTo(focus).filter((node) => node.x1 - node.x0 >= LEAST);
		const elements = shown.map(frameOf);
		inner.replaceChildren(...elements);
		inner.style.height = (1 + Math.max(...shown.map((node) => node.depth))) * ROW + 'px';
		note.textContent = focus === root ? 'Click a frame to zoom into it; click it again to zoom out.' :
			clean(nameOf(focus.data), 300) + ': ' + weightText(answer.unit, sumOf(focus), sumOf(root));
		if (chosen)
			elements[drawnFrame(shown, chosen)].focus({ preventScroll: true });
	};
	draw();
	box.append(inner);
	return el('div', {}, legend(), note, box);
}
