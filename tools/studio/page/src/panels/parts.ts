// SPDX-License-Identifier: Apache-2.0
// Parts that several panels show: stacks, bars of shares, launch sites, causes of gaps.
import { css, fixedColour } from '../core/colours';
import { breakable, button, el, link, number } from '../core/dom';
import { Frame, framesOf, Stack } from '../core/frames';
import { brief, clean, spelled } from '../core/names';
import { formatDuration, formatShare } from '../core/time';
import { LaunchSite } from '../data/info';

const CALLERS = 2;      // of a place that are shown
const LONG_FRAME = 100; // characters: a longer name of C++ is shown without its arguments

export interface GapPart {
	cause: string;
	ns: number;
	count?: number;
	tid?: number;
	thread_name?: string;
	reason?: string;
	syscall?: string;
	file?: string;
	waker?: string;
	waker_tid?: number;
	waker_context?: string;
	fault?: string;
	memory?: string;
	call?: string;
	op_id?: number;
	stream?: number;
	disk?: string;
	function?: string;
	line?: number;
	waker_did?: GapPart[];
}

function frameItem(frame: Frame): HTMLElement {
	const short = frame.text.length > LONG_FRAME ? brief(frame.text, LONG_FRAME) : clean(frame.text, 400);
	return el('li', { class: frame.kind }, el('span', { class: 'name', title: frame.text.length > LONG_FRAME ? frame.text : '' }, ...breakable(short)),
		frame.place ? el('span', { class: 'place' }, '  ', ...breakable(clean(frame.place, 400))) : undefined);
}

/* Frames of the program; those of the tracer, the vendor and the interpreter on request. */
export function stackList(stack: Stack | undefined): HTMLElement {
	const frames = framesOf(stack);
	if (!frames.length)
		return el('p', { class: 'dim' }, 'No stack was recorded.');
	const own = frames.filter((frame) => !frame.hidden && frame.kind !== 'unknown');
	const box = el('div');
	const list = el('ol', { class: 'stack', label: 'Host stack, innermost frame first' });
	const fill = (all: boolean): void => list.replaceChildren(...(all ? frames : own).map(frameItem));
	let all = own.length === 0;
	fill(all);
	box.append(list);
	if (own.length && own.length < frames.length) {
		const more = button('All ' + frames.length + ' frames', () => {
			all = !all;
			fill(all);
			more.textContent = all ? 'Frames of the program' : 'All ' + frames.length + ' frames';
		}, { class: 'link' });
		box.append(more);
	}
	if (stack && stack.truncated)
		box.append(el('p', { class: 'dim' }, 'The stack is cut: it was deeper than the recorder reads.'));
	return box;
}

/* "function (file:line)" stays as it is; a C++ name becomes short. */
function siteName(frame: string): string {
	return / \([^()]*:\d+\)$/.test(frame) || !frame.includes('::') ? clean(frame, 160) : brief(frame, 100);
}

/* A place of the program with its callers: a wrapper of an allocator or of a launch alone tells little. */
export function siteText(site: LaunchSite): HTMLElement {
	const callers = site.callers || [];
	return el('span', { class: 'name', title: [site.frame, ...callers].filter(Boolean).join('\ncalled by ') },
		...breakable(siteName(site.frame || 'unknown code')), callers.length ? el('span', { class: 'dim' },
			...breakable(callers.slice(0, CALLERS).map((caller) => ' < ' + siteName(caller)).join(''))) : undefined);
}

/* Kinds of a device's time: at work, and idle by cause. */
const DEVICE_TIMES: { readonly [name: string]: string } = {
	compute: 'kernels and memory sets', copy: 'copies', host: 'idle: the host was between calls', call: 'idle: the host was in a call',
	dispatch: 'idle: work was on its way', dependency: 'idle: work waited for other work', end: 'idle: after the last operation',
	unknown: 'idle: unknown cause',
};

/* A line if blocks could not be read, which an answer lacks then. */
export function damageNote(...answers: Array<{ damaged?: boolean }>): HTMLElement | undefined {
	return answers.some((answer) => answer.damaged) ?
		el('p', { class: 'bad damage' }, 'Some blocks of the file could not be read: these numbers lack their rows.') : undefined;
}

/* Causes of gaps as a legend has them. */
export const CAUSES: { readonly [cause: string]: string } = {
	host: 'the host was between calls', call: 'the host was in a call', dispatch: 'work was on its way',
	dependency: 'work waited for other work', running: 'the host ran its own code', off_cpu: 'the host was off its CPU',
	page_fault: 'the host had page faults', syscall: 'the host was in a system call', device: 'other work occupied the engine',
	graph: 'between nodes of a graph', reclaim: 'the host freed memory to get some', block_io: 'the host waited for a disk',
};

/* Busy and idle time of a device as a bar. */
export function deviceShares(label: string, parts: ReadonlyArray<readonly [string, number]>, whole: number): HTMLElement {
	return shares(label, parts, whole, DEVICE_TIMES);
}

/* Shares of a whole as one bar, with a legend; `words` has the texts of parts. */
export function shares(label: string, parts: ReadonlyArray<readonly [string, number]>, whole: number,
	words: { readonly [name: string]: string } = {}): HTMLElement {
	const text = (name: string): string => words[name] || spelled(name);
	const bar = el('div', { class: 'bars', role: 'img', label: label + ': ' + parts.map(([name, ns]) =>
		text(name) + ' ' + formatDuration(ns)).join(', ') });
	const rows = el('tbody');
	for (const [name, ns] of parts) {
		const piece = el('span', { title: text(name) + ': ' + formatDuration(ns) });
		piece.style.width = Math.max(0, Math.min(100, 100 * ns / Math.max(1, whole))) + '%';
		piece.style.backgroundColor = css(fixedColour(name));
		bar.append(piece);
		const swatch = el('span', { class: 'swatch' });
		swatch.style.backgroundColor = css(fixedColour(name));
		rows.append(el('tr', { data: { part: name } }, el('td', { class: 'swatched' }, swatch, clean(text(name), 80)),
			el('td', { class: 'number' }, number('ns', ns)),
			el('td', { class: 'number' }, formatShare(ns / Math.max(1, whole)))));
	}
	return el('div', {}, bar, el('table', {}, el('caption', { class: 'offscreen' }, label), rows));
}

/* The cause of a part of a gap as a sentence. */
export function causeText(part: GapPart): string {
	const thread = part.thread_name || part.tid !== undefined ?
		(part.thread_name || 'thread') + (part.tid !== undefined ? '/' + part.tid : '') : 'the calling thread';
	switch (part.cause) {
	case 'running':
		return thread + ' ran ' + (part.function ? part.function + (part.line ? ' (line ' + part.line + ')' : '') : 'its own code');
	case 'host':
		return thread + (part.function ? ' ran ' + part.function : ' ran its own code, or was off its CPU');
	case 'off_cpu':
		return thread + ' was off its CPU: ' + (part.reason || 'unknown') + (part.syscall && part.syscall !== part.reason ? ' in ' + part.syscall : '') +
			(part.file ? ' of ' + part.file : '') + (part.waker ? ', woken by ' + part.waker : '');
	case 'page_fault':
		return thread + ' had ' + (part.fault ? part.fault + ' ' : '') + 'page faults' + ' of ' + (part.memory || 'some') + ' memory';
	case 'syscall':
		return thread + ' was in ' + (part.syscall ? 'the system call ' + part.syscall : 'a system call') + (part.file ? ' of ' + part.file : '');
	case 'call':
		return thread + ' was in ' + (part.call || 'a call');
	case 'dependency':
		return 'waited for an operation of stream ' + (part.stream ?? '?');
	case 'device':
		return 'an operation of stream ' + (part.stream ?? '?') + ' occupied the engine (inferred)';
	case 'graph':
		return 'time between nodes of one graph launch';
	case 'dispatch':
		return 'the operation was on its way to the device';
	case 'reclaim':
		return thread + ' freed memory to get some';
	case 'block_io':
		return 'waited for the disk ' + (part.disk || '');
	default:
		return spelled(part.cause);
	}
}

export function causeList(parts: ReadonlyArray<GapPart>, whole: number, goTo: (op: number) => void, limit = 12): HTMLElement {
	const list = el('table', {}, el('caption', { class: 'offscreen' }, 'Causes'));
	const body = el('tbody');
	for (const part of parts.slice(0, limit)) {
		const swatch = el('span', { class: 'swatch' });
		swatch.style.backgroundColor = css(fixedColour(part.cause));
		const op = part.op_id;
		const text = clean(causeText(part), 300);
		body.append(el('tr', { data: { cause: part.cause } },
			el('td', { class: 'number' }, number('ns', part.ns)),
			el('td', { class: 'number' }, formatShare(part.ns / Math.max(1, whole))),
			el('td', { class: 'swatched' }, swatch, op !== undefined ? link(text, 'Show operation ' + op, () => goTo(op)) : text,
				part.count && part.count > 1 ? el('span', { class: 'dim' }, ' (' + part.count + ' times)') : undefined,
				...(part.waker_did || []).slice(0, 3).map((did) =>
					el('div', { class: 'dim' }, 'meanwhile: ' + clean(causeText(did), 200))))));
	}
	list.append(body);
	if (parts.length > limit)
		return el('div', {}, list, el('p', { class: 'dim' }, 'and ' + (parts.length - limit) + ' more causes'));
	return list;
}

