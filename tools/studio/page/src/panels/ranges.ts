// SPDX-License-Identifier: Apache-2.0
// The ranges that threads are in at an instant, such as "step 4" or "load batch": what the program says that it does. The panels
// State and Gaps show them.
import { el, link, number, table } from '../core/dom';
import { brief, clean } from '../core/names';
import { LaneInfo } from '../data/api';
import { Shell } from './panel';

const LANES = 48;   // of threads with ranges that are asked
const AT_ONCE = 6;  // requests
const DEEPEST = 64; // levels of ranges

interface Range {
	name: string;
	start: number;
	end: number;
}

/* A thread with its ranges, the outermost first. */
interface Thread {
	lane: LaneInfo;
	ranges: Range[];
}

async function rangesOf(shell: Shell, lane: LaneInfo, at: number, signal: AbortSignal): Promise<Thread> {
	const { api } = shell.model;
	const rows = await api.rows(lane.id, at, at + 1, DEEPEST, 0, signal);
	// Marks have no length.
	const inside = rows.start.map((_, i) => i).filter((i) => rows.start[i] <= at && rows.end[i] > at);
	const names = inside.length ? await api.names([...new Set(inside.map((i) => rows.key[i]))], lane.trace || 0, signal) : {};
	inside.sort((a, b) => rows.depth[a] - rows.depth[b]);
	return { lane, ranges: inside.map((i) => ({ name: names[rows.key[i]]?.name || 'range', start: rows.start[i], end: rows.end[i] })) };
}

/*
 * A table of the threads that are in a range at a time of a trace; undefined if none is. `process` has the name of a session's process,
 * if there are several.
 */
export async function rangesAt(shell: Shell, trace: number, at: number, title: string, process: (session: number | undefined) => string,
	signal: AbortSignal): Promise<HTMLElement | undefined> {
	const { model } = shell;
	const lanes = model.trace.lanes.filter((lane) => lane.kind === 'ranges' && (lane.trace || 0) === trace && lane.rows > 0);
	const found: Thread[] = [];
	for (let i = 0; i < Math.min(LANES, lanes.length); i += AT_ONCE)
		found.push(...await Promise.all(lanes.slice(i, Math.min(LANES, i + AT_ONCE)).map((lane) => rangesOf(shell, lane, at, signal))));
	const inRange = found.filter((thread) => thread.ranges.length);
	if (!inRange.length)
		return undefined;
	const offset = model.offsetOfTrace(trace);
	const box = el('div', {}, table(title, [
		{ head: 'Thread', class: 'words', cell: (thread: Thread) => clean(model.lane(thread.lane.parent)?.name || thread.lane.name, 60) +
			process(thread.lane.session) },
		{ head: 'Range', cell: (thread) => el('span', {}, ...thread.ranges.flatMap((range, i) => [i ? ' \u203a ' : '',
			link(brief(range.name, 80), range.name, () => shell.goToSpan(range.start + offset, range.end + offset, thread.lane.id))])) },
		{ head: 'Since', class: 'number', cell: (thread) => number('ns', at - thread.ranges[thread.ranges.length - 1].start) },
	], inRange, (thread) => ({ data: { lane: thread.lane.id } })));
	if (lanes.length > LANES)
		box.append(el('p', { class: 'dim' }, 'of the first ' + LANES + ' threads with ranges'));
	return box;
}
