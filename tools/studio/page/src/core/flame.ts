// SPDX-License-Identifier: Apache-2.0
// A flame graph: frames with their sums, laid out by d3-hierarchy. Pure.
import { HierarchyRectangularNode, partition, stratify } from 'd3-hierarchy';
import { Integer } from './json';
import { formatBytes, formatCount, formatDuration, formatShare } from './time';

export type FlameUnit = 'ns' | 'bytes' | 'count';

export interface FlameFrame {
	parent: number;   // number of the caller, from 1; 0: an outermost frame
	name?: string;
	kind?: string;    // "python", "native", "operation", "other"; "all" is the root
	weight: Integer;  // of the stacks that end here
	left_out?: number; // the sum of so many callees that are too small
}

export interface FlameAnswer {
	unit: FlameUnit;
	frames: FlameFrame[];
}

/* x0 and x1 are parts of the whole width, from 0 to 1. */
export type FlameNode = HierarchyRectangularNode<FlameFrame>;

export function nameOf(frame: FlameFrame): string {
	return frame.left_out ? formatCount(frame.left_out) + ' smaller frames' : frame.name || '';
}

/* The tree of frames, with "all" as its root. The callees with the largest sums come first, and those that were left out come last. */
export function flameOf(frames: ReadonlyArray<FlameFrame>): FlameNode {
	const all: FlameFrame = { parent: 0, name: 'all', kind: 'all', weight: 0 };
	const root = stratify<FlameFrame>().id((_, i) => String(i)).parentId((frame, i) => (i ? String(frame.parent) : undefined))([all, ...frames])
		.sum((frame) => Number(frame.weight))
		.sort((a, b) => Number(!!a.data.left_out) - Number(!!b.data.left_out) || sumOf(b) - sumOf(a) ||
			(nameOf(a.data) < nameOf(b.data) ? -1 : 1));
	return partition<FlameFrame>()(root);
}

export function sumOf(node: { value?: number }): number {
	return node.value || 0;
}

/* The frames of a picture in which `focus` has the whole width: its callers, it, and its callees. */
export function zoomTo(focus: FlameNode): FlameNode[] {
	const callers = focus.ancestors().slice(1).reverse();
	for (const caller of callers)
		[caller.x0, caller.x1] = [0, 1];
	return [...callers, ...partition<FlameFrame>()(focus).descendants()];
}

/* The frame, or its nearest caller that is among those that are drawn. */
export function drawnFrame(drawn: ReadonlyArray<FlameNode>, frame: FlameNode): number {
	return frame.ancestors().reduce((found, node) => (found < 0 ? drawn.indexOf(node) : found), -1);
}

/* "26.31 ms (26,306,520 ns), 54.3 %" */
export function weightText(unit: FlameUnit, sum: number, all: number): string {
	const count = formatCount(sum);
	const text = unit === 'count' ? count : (unit === 'ns' ? formatDuration(sum) : formatBytes(sum)) + ' (' + count + ' ' + unit + ')';
	return text + ', ' + formatShare(sum / Math.max(1, all));
}
