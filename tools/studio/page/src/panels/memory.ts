// SPDX-License-Identifier: Apache-2.0
// Memory over time, with the code that holds the bytes at the peak or at the cursor. Asks "memory", and "state" for the cursor.
import { area, curveStepAfter } from 'd3-shape';
import { breakable, el, facts, link, number, table } from '../core/dom';
import { siteOf, Stack } from '../core/frames';
import { clean, spelled } from '../core/names';
import { formatBytes, formatInstant, formatShare, roundStep, ticks } from '../core/time';
import { Row } from '../data/api';
import { Panel } from './panel';
import { damageNote, siteText, stackList } from './parts';

interface Site {
	session?: number;
	count: number;
	bytes: number;
	total_bytes: number;
	frame?: string;
	kind?: string;
	device?: number;
	callers?: string[];
}

interface Holder {
	session?: number;
	address: number | string;
	bytes: number;
	kind?: string;
	device?: number;
	start_ns: number;
	op_id?: number;
	thread_name?: string;
	tid?: number;
	stack?: Stack;
}

interface Curve {
	device?: number;
	name?: string;
	capacity_bytes?: number;
	peak_bytes: number;
	peak_ns: number;
	points: Array<{ start_ns: number; bytes: number }>;
}

/* Live bytes from this time on. */
interface Point {
	at: number;
	bytes: number;
}

interface MemoryAnswer {
	peak_bytes: number;
	peak_ns: number;
	at_peak?: Holder[];
	peak_allocations?: number;
	never_freed?: Holder[];
	never_freed_allocations?: number;
	never_freed_bytes?: number;
	peak_sites?: Site[];
	never_freed_sites?: Site[];
	capacity_bytes?: number;
	curves?: { end_ns?: number; devices?: Curve[] };
	points?: Array<{ start_ns: number; bytes: number }>;
	damaged?: boolean;
	misuse_count?: number;
	misuses?: Array<{ kind: string; address: number | string; use?: { name?: string; op_id?: number; stack?: Stack };
		freed?: { name?: string; op_id?: number; stack?: Stack } }>;
}

interface Allocation {
	session?: number;
	address: number | string;
	bytes: number;
	kind?: string;
	device?: number;
	op_id?: number;
	since_ns: number;
}

const CURVE_HEIGHT = 96;
const HELD = 30; // at first

export class MemoryPanel extends Panel {
	readonly id = 'memory';
	readonly title = 'Memory';
	private readonly whole = el('div');
	private readonly held = el('div', { id: 'memory-held' });
	private answer: MemoryAnswer | undefined;
	private asked = false;
	private heldAt: number | undefined;
	private heldMost = HELD; // listed at the cursor

	override readonly ofWhole = true;

	override forget(): void {
		this.asked = false;
		this.heldAt = undefined;
		super.forget();
	}

	update(): void {
		if (!this.asked) {
			this.asked = true;
			this.root.replaceChildren(this.whole, this.held);
			const controller = new AbortController();
			void this.fill(this.whole, 'Reading the memory over time\u2026', async (signal) => {
				this.answer = await this.model.api.ask<MemoryAnswer>('memory', { points: 1000, limit: 50, stacks: true }, this.trace, signal);
				return this.show(this.answer);
			}, controller.signal);
		}
		const { cursor } = this;
		if (cursor !== undefined && cursor !== this.heldAt)
			this.showHeld(cursor);
	}

	private show(answer: MemoryAnswer): Array<HTMLElement | undefined> {
		if (!answer.peak_bytes)
			return [damageNote(answer), el('p', { class: 'dim' }, 'The trace has no allocations of device memory.')];
		const peak = this.model.relative(answer.peak_ns, this.trace);
		const result: Array<HTMLElement | undefined> = [damageNote(answer), el('p', { class: 'lead' }, 'Peak: ', el('span', { id: 'memory-peak' },
			number('bytes', answer.peak_bytes)), answer.capacity_bytes ? ' of ' + formatBytes(answer.capacity_bytes) : '', ', at ',
		link(formatInstant(peak), 'Show the peak', () => this.showPeak(peak)), '.')];
		const curves = ((answer.curves && answer.curves.devices) || []).slice().sort((a, b) => (a.device ?? 0) - (b.device ?? 0));
		for (const curve of curves)
			result.push(this.curve(curve, answer));
		const sites = answer.peak_sites || [];
		const columns = el('div', { class: 'columns' },
			el('section', {}, this.sites('Who held the memory at the peak', sites, answer.peak_bytes)),
			el('section', {}, this.sites('Never freed', answer.never_freed_sites || [], answer.never_freed_bytes || 1)),
			el('section', {}, this.holders('The largest allocations at the peak', answer.at_peak || [])));
		if (answer.misuse_count)
			columns.append(this.misuses(answer));
		result.push(columns);
		return result;
	}

	private showPeak(at: number): void {
		const ns = at + this.model.offsetOfTrace(this.trace);
		this.model.setCursor(ns);
		this.model.reveal(ns, ns);
	}

	private sites(title: string, sites: Site[], whole: number): HTMLElement {
		if (!sites.length)
			return el('p', { class: 'dim' }, title + ': nothing.');
		return table(title, [
			{ head: 'Code', cell: (site: Site) => el('span', {}, siteText(site), this.process(site.session)) },
			{ head: 'Bytes', class: 'number', cell: (site) => number('bytes', site.total_bytes) },
			{ head: 'Share', class: 'number', cell: (site) => formatShare(site.total_bytes / Math.max(1, whole)) },
			{ head: 'Allocations', class: 'number', cell: (site) => number('count', site.count) },
			{ head: 'Kind', class: 'short', cell: (site) => clean(site.kind || '', 20) },
		], sites.slice(0, 25), (site) => ({ data: { bytes: site.total_bytes } }));
	}

	private holders(title: string, holders: Holder[]): HTMLElement {
		const box = el('div', {}, el('h3', {}, title));
		for (const holder of holders.slice(0, 12)) {
			const start = this.model.relative(holder.start_ns, this.trace);
			box.append(el('details', {}, el('summary', {}, number('bytes', holder.bytes), ' since ' + formatInstant(start) + ', by ',
				...breakable(clean(siteOf(holder.stack) || 'unknown code', 140) + this.process(holder.session))),
			facts([['Address', '0x' + BigInt(holder.address).toString(16)],
				['Kind', clean(holder.kind || '', 30)],
				['Call', holder.op_id ? link('operation ' + holder.op_id, '', () =>
					void this.shell.goToOperation(holder.op_id as number, this.trace, holder.session)) : undefined]]),
			stackList(holder.stack)));
		}
		return box;
	}

	private misuses(answer: MemoryAnswer): HTMLElement {
		return el('section', {}, el('h3', { class: 'bad' }, 'Uses of freed memory: ' + answer.misuse_count),
			...(answer.misuses || []).slice(0, 10).map((misuse) => el('details', {},
				el('summary', {}, clean(spelled(misuse.kind), 40) + ' at 0x' + BigInt(misuse.address).toString(16) + ' by ' +
					clean(misuse.use && misuse.use.name || 'a call', 80)),
				el('h3', {}, 'Used by'), stackList(misuse.use && misuse.use.stack),
				el('h3', {}, 'Freed by'), stackList(misuse.freed && misuse.freed.stack))));
	}

	/* Live bytes over time. A click sets the cursor. */
	private curve(curve: Curve, answer: MemoryAnswer): HTMLElement {
		const canvas = el('canvas', { class: 'curve', role: 'slider', tabindex: 0, label: 'Memory of GPU ' + (curve.device ?? '') +
			' over time; peak ' + formatBytes(curve.peak_bytes) + ' at ' + formatInstant(this.model.relative(curve.peak_ns, this.trace)) +
			'. Left and right move the cursor.' });
		const box = el('div', {}, el('h3', {}, clean('GPU ' + (curve.device ?? '') + ' ' + (curve.name || ''), 80)), canvas);
		const points = curve.points.map((point) => ({ at: this.model.relative(point.start_ns, this.trace), bytes: point.bytes }));
		const end = answer.curves && answer.curves.end_ns ? this.model.relative(answer.curves.end_ns, this.trace) : this.model.view.duration;
		canvas.setAttribute('aria-valuemin', '0');
		canvas.setAttribute('aria-valuemax', String(Math.round(end)));
		const draw = (): void => {
			canvas.setAttribute('aria-valuenow', String(Math.round(this.cursor ?? 0)));
			canvas.setAttribute('aria-valuetext', formatInstant(this.cursor ?? 0));
			this.drawCurve(canvas, points, end, curve);
		};
		new ResizeObserver(draw).observe(box);
		this.model.on('cursor', draw);
		this.model.on('colour', draw);
		const place = (event: MouseEvent): number => {
			const rect = canvas.getBoundingClientRect();
			return (event.clientX - rect.left) / Math.max(1, rect.width) * end;
		};
		const set = (ns: number): void => this.model.setCursor(Math.min(end, Math.max(0, ns)) + this.model.offsetOfTrace(this.trace));
		canvas.addEventListener('click', (event) => set(place(event)));
		canvas.addEventListener('keydown', (event) => {
			const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
			if (!step)
				return;
			event.preventDefault();
			event.stopPropagation();
			set((this.cursor ?? 0) + step * end / 200);
		});
		return box;
	}

	private drawCurve(canvas: HTMLCanvasElement, points: Point[], end: number, curve: Curve): void {
		const ratio = window.devicePixelRatio || 1;
		const width = Math.max(50, canvas.parentElement ? canvas.parentElement.clientWidth : 300);
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(CURVE_HEIGHT * ratio);
		canvas.style.height = CURVE_HEIGHT + 'px';
		const context = canvas.getContext('2d') as CanvasRenderingContext2D;
		const style = getComputedStyle(canvas);
		const colour = (name: string): string => style.getPropertyValue(name).trim();
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, CURVE_HEIGHT);
		context.font = '11px ' + style.fontFamily;
		const bottom = CURVE_HEIGHT - 16;
		const scale = (bottom - 14) / Math.max(1, curve.peak_bytes);
		const x = (at: number): number => at / Math.max(1, end) * width;
		context.fillStyle = colour('--bar');
		context.beginPath();
		area<Point>().x((point) => x(point.at)).y0(bottom).y1((point) => bottom - point.bytes * scale).curve(curveStepAfter).context(context)([
			...points, { at: end, bytes: points.length ? points[points.length - 1].bytes : 0 }]);
		context.fill();
		context.fillStyle = colour('--line');
		context.fillRect(0, bottom, width, 1);
		const step = roundStep(end / width * 110);
		for (const at of ticks(0, end, step)) {
			context.fillStyle = colour('--line');
			context.fillRect(Math.round(x(at)), bottom, 1, 4);
			context.fillStyle = colour('--dim');
			if (x(at) < width - 60)
				context.fillText(formatInstant(at, step), x(at) + 3, CURVE_HEIGHT - 3);
		}
		const peak = x(this.model.relative(curve.peak_ns, this.trace));
		context.fillStyle = colour('--text');
		context.fillRect(Math.round(peak), 10, 1, bottom - 10);
		const text = 'peak ' + formatBytes(curve.peak_bytes);
		const size = context.measureText(text).width;
		// Left of the line if there is no room right of it.
		context.fillText(text, peak + 4 + size + 2 <= width ? peak + 4 : Math.max(2, peak - size - 4), 10);
		if (this.cursor !== undefined) {
			context.fillStyle = colour('--selected');
			context.fillRect(Math.round(x(this.cursor)), 0, 1, bottom);
		}
	}

	/* The code that allocated; opened, its whole stack. */
	private holder(allocation: Allocation, stack: Stack | undefined): HTMLElement {
		const { op_id: op, session } = allocation;
		const box = el('details', {}, el('summary', {}, clean(siteOf(stack) || (op ? 'operation ' + op : 'unknown code'), 160) + this.process(session)));
		if (stack)
			box.append(stackList(stack));
		if (op)
			box.append(link('Show the call', '', () => void this.shell.goToOperation(op, this.trace, session)));
		return box;
	}

	/* The allocations that are live at the cursor, with the stacks of the largest. */
	private showHeld(at: number): void {
		this.heldAt = at;
		const after = this.afterEnd(at);
		if (after) {
			this.cancel();
			this.held.replaceChildren(after);
			return;
		}
		void this.ask(this.held, 'Reading the allocations at ' + formatInstant(at) + '\u2026', async (signal) => {
			const { api } = this.model;
			const state = await api.ask<{ allocations?: Allocation[]; allocated_bytes?: number }>('state',
				{ at: { ns: at, from_start: true }, stacks: false }, this.trace, signal);
			const list = (state.allocations || []).sort((a, b) => b.bytes - a.bytes);
			const largest = list.slice(0, this.heldMost);
			const stacks = new Map<string, Stack | undefined>();
			const callOf = (allocation: Allocation): string => (allocation.session || 0) + '/' + allocation.op_id;
			const calls = [...new Map(largest.filter((allocation) => allocation.op_id).map((allocation) => [callOf(allocation), allocation])).values()];
			for (let i = 0; i < calls.length && !signal.aborted; i += 6) {
				await Promise.all(calls.slice(i, i + 6).map(async (call) => {
					const row = await api.rowOf(call.op_id as number, this.trace, call.session, signal).catch((): Row | undefined => undefined);
					stacks.set(callOf(call), row && row.stack as Stack | undefined);
				}));
			}
			return [el('h3', {}, 'At the cursor, ' + formatInstant(at)),
				el('p', {}, number('bytes', state.allocated_bytes || 0), ' in ', number('count', list.length), ' allocations'),
				el('div', { class: 'columns' }, el('section', { class: 'broad' }, table('Largest allocations at the cursor', [
					{ head: 'Bytes', class: 'number', cell: (a: Allocation) => number('bytes', a.bytes) },
					{ head: 'Kind', class: 'short', cell: (a) => clean(a.kind || '', 20) },
					{ head: 'Since', class: 'number', cell: (a) => formatInstant(this.model.relative(a.since_ns, this.trace)) },
					{ head: 'Allocated by', cell: (a) => this.holder(a, stacks.get(callOf(a))) },
				], largest))),
				list.length > largest.length ? el('p', {}, 'and ', number('count', list.length - largest.length), ' smaller allocations, ',
					number('bytes', list.slice(largest.length).reduce((sum, one) => sum + one.bytes, 0)), '. ', link('Show more', '', () => {
						this.heldMost *= 4;
						this.showHeld(at);
					})) : undefined];
		});
	}
}
