// SPDX-License-Identifier: Apache-2.0
// Keys of the page, in one table: the help lists it, the dispatcher obeys it.

export interface KeyBinding {
	keys: string[];   // KeyboardEvent.key, with "Shift+" or "Ctrl+" in front
	action: string;
	help: string;
	held?: boolean;   // acts as long as the key is down
}

export const KEYS: ReadonlyArray<KeyBinding> = [
	{ keys: ['w', 'W'], action: 'zoom-in', help: 'zoom in', held: true },
	{ keys: ['s', 'S'], action: 'zoom-out', help: 'zoom out', held: true },
	{ keys: ['a', 'A'], action: 'pan-left', help: 'move left', held: true },
	{ keys: ['d', 'D'], action: 'pan-right', help: 'move right', held: true },
	{ keys: ['ArrowUp'], action: 'lane-up', help: 'previous lane' },
	{ keys: ['ArrowDown'], action: 'lane-down', help: 'next lane' },
	{ keys: ['ArrowLeft', ','], action: 'row-previous', help: 'previous row of the lane' },
	{ keys: ['ArrowRight', '.'], action: 'row-next', help: 'next row of the lane' },
	{ keys: ['Shift+ArrowLeft'], action: 'cursor-left', help: 'move the cursor left' },
	{ keys: ['Shift+ArrowRight'], action: 'cursor-right', help: 'move the cursor right' },
	{ keys: ['Enter'], action: 'fold', help: 'fold or unfold the lane' },
	{ keys: ['o', 'O'], action: 'isolate', help: 'only this process, or all of them' },
	{ keys: ['f', 'F'], action: 'fit', help: 'zoom to the selection or the span' },
	{ keys: ['0', 'Home'], action: 'show-all', help: 'show the whole trace' },
	{ keys: ['g', 'G'], action: 'gap', help: 'explain the gap before the selected operation' },
	{ keys: ['r', 'R'], action: 'row-span', help: 'measure: the selected row becomes the span' },
	{ keys: ['m', 'M'], action: 'mark', help: 'set or remove a bookmark at the cursor' },
	{ keys: ['['], action: 'mark-previous', help: 'previous bookmark' },
	{ keys: [']'], action: 'mark-next', help: 'next bookmark' },
	{ keys: ['/', 'Ctrl+f'], action: 'search', help: 'search, or go to a time such as 1.2s' },
	{ keys: ['n'], action: 'search-next', help: 'next match' },
	{ keys: ['N'], action: 'search-previous', help: 'previous match' },
	{ keys: ['c', 'C'], action: 'colour', help: 'colour by the next property' },
	{ keys: ['x', 'X'], action: 'arrows', help: 'arrows of all operations in view' },
	{ keys: ['t', 'T'], action: 'theme', help: 'dark or light' },
	{ keys: ['p', 'P'], action: 'panel', help: 'go to the panel' },
	{ keys: ['l', 'L'], action: 'link', help: 'copy a link to this view' },
	{ keys: ['Escape'], action: 'clear', help: 'clear span, selection and search' },
	{ keys: ['?'], action: 'help', help: 'show the keys' },
];

export function keyName(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean }): string {
	const plain = event.key.length === 1;
	return (event.ctrlKey || event.metaKey ? 'Ctrl+' : '') + (event.altKey ? 'Alt+' : '') +
		(event.shiftKey && !plain ? 'Shift+' : '') + event.key;
}

/* A key as its cap shows it. */
export function keyCap(key: string): string {
	return key.replace('ArrowLeft', '\u2190').replace('ArrowRight', '\u2192').replace('ArrowUp', '\u2191').replace('ArrowDown', '\u2193');
}

export function bindingOf(name: string): KeyBinding | undefined {
	return KEYS.find((binding) => binding.keys.includes(name));
}
