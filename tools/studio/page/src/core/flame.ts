// SPDX-License-Identifier: Apache-2.0
// A flame graph as boxes: places in parts of the whole width, depth from the root. Pure.

export interface Box {
	name: string;
	value: string;  // as the picture prints it: "26.30652 ms, 54.3 %"
	kind: string;   // "python", "native", "operation", "other", "all"
	depth: number;
	left: number;   // 0 to 1
	width: number;
}

export interface PictureRect {
	x: number;
	y: number;
	width: number;
	name: string;
	className: string;
}

const KINDS: { readonly [letter: string]: string } = { p: 'python', n: 'native', o: 'operation', a: 'all' };

/* Boxes from the rectangles of the server's picture; the title of each is "name\nvalue". */
export function boxesOf(rects: ReadonlyArray<PictureRect>): Box[] {
	if (!rects.length)
		return [];
	const top = Math.min(...rects.map((rect) => rect.y));
	const rows = [...new Set(rects.map((rect) => rect.y))].sort((a, b) => a - b);
	const depths = new Map(rows.map((y, i) => [y, i]));
	const root = rects.find((rect) => rect.y === top) as PictureRect;
	return rects.map((rect) => {
		const cut = rect.name.lastIndexOf('\n');
		return {
			name: cut < 0 ? rect.name : rect.name.slice(0, cut), value: cut < 0 ? '' : rect.name.slice(cut + 1),
			kind: KINDS[rect.className[0]] || 'other', depth: depths.get(rect.y) as number,
			left: (rect.x - root.x) / root.width, width: rect.width / root.width,
		};
	});
}

/* The boxes that are in the picture if `focus` fills the width: it, what is above it, and its ancestors. */
export function focusBoxes(boxes: ReadonlyArray<Box>, focus: Box | undefined): Box[] {
	if (!focus)
		return boxes.slice();
	const end = focus.left + focus.width;
	const slack = 1e-6;
	const result: Box[] = [];
	for (const box of boxes) {
		if (box.depth < focus.depth) {
			if (box.left <= focus.left + slack && box.left + box.width >= end - slack)
				result.push({ ...box, left: 0, width: 1 });
		} else if (box.left >= focus.left - slack && box.left + box.width <= end + slack) {
			result.push({ ...box, left: (box.left - focus.left) / focus.width, width: box.width / focus.width });
		}
	}
	return result;
}
