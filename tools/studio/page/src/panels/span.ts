// SPDX-License-Identifier: Apache-2.0
// The selected span of time, or else the view: busy and idle time by cause, the kernels with the most time, copies, and the flame
// graph by launching stack. Asks "timeline", "stats" and "flame".
import { el, link, nameText, number, table } from '../core/dom';
import { briefs, clean } from '../core/names';
import { formatDuration, formatInstant, formatShare } from '../core/time';
import { LaunchSite } from '../data/info';
import { flameGraph } from './flame';
import { Panel } from './panel';
import { damageNote, deviceShares, siteText } from './parts';

interface Aggregate {
	name: string;
	count: number;
	total_ns: number;
	mean_ns: number;
	max_ns: number;
	bytes?: number;
	median_ns?: number;
	p99_ns?: number;
	launched_by?: LaunchSite[];
	launch_sites?: number;
}

interface Stats {
	damaged?: boolean;
	kernels?: Aggregate[];
	api?: Aggregate[];
	copies?: Aggregate[];
	memsets?: Aggregate[];
	syncs?: Aggregate[];
	ranges?: Aggregate[];
	off_cpu?: Aggregate[];
}

interface TimelineAnswer {
	damaged?: boolean;
	start_ns: number;
	end_ns: number;
	devices?: Array<{
		device: number; name?: string; operations: number; busy_ns: number; compute_ns: number; copy_ns: number;
		overlap_ns: number; idle_ns: number; idle?: Array<{ cause: string; ns: number }>;
		streams?: Array<{ session?: number; stream: number; name?: string; operations: number; busy_ns: number }>;
	}>;
}

const TOP = 12;
const WEIGHTS: ReadonlyArray<readonly [string, string]> = [['gpu-time', 'GPU time'], ['launches', 'launches'], ['bytes', 'bytes copied'],
	['cpu', 'time on a CPU'], ['off-cpu', 'time off the CPU'], ['host', 'time on and off a CPU']];

export class SpanPanel extends Panel {
	readonly id = 'span';
	readonly title = 'Span';
	private weight = 'gpu-time';

	update(): void {
		const { span } = this.model;
		const [from, to] = this.window();
		const heading = el('div', { class: 'toolbar' },
			el('strong', { id: 'span-length', data: { value: to - from } }, formatDuration(to - from)),
			el('span', {}, ' from ' + formatInstant(from) + ' to ' + formatInstant(to)),
			span ? link('Zoom to it', '', () => this.model.show(span[0], span[1])) : el('span', { class: 'dim' },
				'This is the view. Drag on the ruler, or hold shift and drag, to measure a span.'),
			span ? link('Clear', '', () => this.model.setSpan(undefined)) : undefined);
		const body = el('div');
		this.root.replaceChildren(heading, body);
		if (to <= from)
			return;
		void this.ask(body, 'Summing up the span\u2026', async (signal) => {
			const window = this.moments(from, to);
			const { api } = this.model;
			const [timeline, stats] = await Promise.all([
				api.ask<TimelineAnswer>('timeline', { ...window, parts: 1 }, this.trace, signal),
				// Rows that only touch the span have no part in it.
				api.ask<Stats>('stats', { ...this.moments(from + 1, Math.max(from + 1, to - 1)), limit: 100 }, this.trace, signal),
			]);
			const flame = el('section', { class: 'wide' });
			const main = this.kernels(stats);
			main.append(el('div', { class: 'columns below' }, ...this.others(stats)));
			const result = el('div', { class: 'columns' }, this.busy(timeline, to - from), main, flame);
			this.flame(flame, from, to, signal);
			return [damageNote(timeline, stats), result];
		});
	}

	private busy(answer: TimelineAnswer, whole: number): HTMLElement {
		const section = el('section', { class: 'narrow' });
		for (const device of answer.devices || []) {
			const parts: Array<readonly [string, number]> = [['compute', device.compute_ns - device.overlap_ns],
				['copy', device.copy_ns]];
			for (const idle of device.idle || [])
				parts.push([idle.cause, idle.ns]);
			section.append(el('h3', {}, clean('GPU ' + device.device + ' ' + (device.name || ''), 80)),
				el('p', {}, 'Busy ', number('ns', device.busy_ns), ' (' + formatShare(device.busy_ns / Math.max(1, whole)) +
					'), idle ', number('ns', device.idle_ns), '.'),
				deviceShares('GPU ' + device.device + ', busy and idle by cause', parts, whole));
			const streams = (device.streams || []).filter((stream) => stream.operations);
			if (streams.length > 1) {
				section.append(table('Streams', [
					{ head: 'Stream', cell: (stream) => clean(stream.name || 'stream ' + stream.stream, 60) + this.process(stream.session) },
					{ head: 'Operations', class: 'number', cell: (stream) => number('count', stream.operations) },
					{ head: 'Busy', class: 'number', cell: (stream) => number('ns', stream.busy_ns) },
				], streams.slice(0, 40)));
			}
		}
		if (!section.childNodes.length)
			section.append(el('p', { class: 'dim' }, 'No GPU worked in this span.'));
		return section;
	}

	private kernels(stats: Stats): HTMLElement {
		const list = stats.kernels || [];
		const section = el('section', { class: 'broad' });
		const shown = list.slice(0, TOP);
		const names = briefs(shown.map((k) => k.name), 120);
		section.append(table('Kernels', [
			{ head: 'Kernel', class: 'wide', cell: (k: Aggregate) => nameText(names.get(k.name)) },
			{ head: 'Total', class: 'number', cell: (k) => number('ns', k.total_ns) },
			{ head: 'Launches', class: 'number', cell: (k) => number('count', k.count) },
			{ head: 'Median', class: 'number', cell: (k) => number('ns', k.median_ns) },
			{ head: 'Longest', class: 'number', cell: (k) => number('ns', k.max_ns) },
			{ head: 'Launched by', cell: (k) => (k.launched_by && k.launched_by[0] ? siteText(k.launched_by[0]) : '') },
		], shown, (k) => ({ title: k.name, data: { kernel: k.name.slice(0, 500) } })));
		if (list.length > TOP)
			section.append(el('p', { class: 'dim' }, 'and ' + (list.length - TOP) + ' more kernels'));
		if (list.length)
			section.append(el('p', { class: 'dim' }, 'A row that lies in part outside the span counts whole in these tables.'));
		return section;
	}

	private others(stats: Stats): HTMLElement[] {
		const sections: HTMLElement[] = [];
		const add = (title: string, list: Aggregate[] | undefined, bytes: boolean): void => {
			if (!list || !list.length)
				return;
			sections.push(el('section', { class: 'sums' }, table(title, [
				{ head: 'Name', cell: (item: Aggregate) => nameText(item.name, 120) },
				{ head: 'Total', class: 'number', cell: (item) => number('ns', item.total_ns) },
				{ head: 'Count', class: 'number', cell: (item) => number('count', item.count) },
				...(bytes ? [{ head: 'Bytes', class: 'number', cell: (item: Aggregate) => number('bytes', item.bytes) }] : []),
			], list.slice(0, 8))));
		};
		add('Copies', stats.copies, true);
		add('Memory sets', stats.memsets, true);
		add('Calls', stats.api, false);
		add('Waits of the host', stats.syncs, false);
		add('Ranges', stats.ranges, false);
		add('Off CPU', stats.off_cpu, false);
		return sections;
	}

	private flame(section: HTMLElement, from: number, to: number, signal: AbortSignal): void {
		const select = el('select', { label: 'Weight of the flame graph' });
		for (const [weight, text] of WEIGHTS) {
			const option = el('option', {}, text);
			option.value = weight;
			option.selected = weight === this.weight;
			select.append(option);
		}
		const place = el('div');
		section.append(el('div', { class: 'toolbar' }, el('strong', {}, 'Flame graph by stack'), select), place);
		const draw = (): void => {
			void this.fill(place, 'Drawing the flame graph\u2026', async (s) =>
				[flameGraph(await this.model.api.flame(from, to, this.weight, this.trace, s))], signal);
		};
		select.addEventListener('change', () => {
			this.weight = select.value;
			draw();
		});
		draw();
	}
}
