// SPDX-License-Identifier: Apache-2.0
// The first panel: where the time went, the slowest kernels and who launches them, findings with advice. Asks "analyze".
import { button, el, facts, link, nameText, number, table } from '../core/dom';
import { Stack, siteOf } from '../core/frames';
import { briefs, clean, filterOf, spelled } from '../core/names';
import { formatDuration, formatShare } from '../core/time';
import { Row } from '../data/api';
import { deaths, Info, InfoKernel, LaunchSite, warnings } from '../data/info';
import { Panel } from './panel';
import { damageNote, deviceShares, siteText, stackList } from './parts';

interface Kernel {
	name: string;
	count: number;
	ns: number;
	occupancy?: { share?: number; limit?: string; waves?: number };
	launched_by?: LaunchSite[];
	launch_sites?: number;
}

interface Device {
	device: number;
	name?: string;
	operations: number;
	busy_ns: number;
	compute_ns: number;
	copy_ns: number;
	overlap_ns: number;
	idle_ns: number;
	idle?: Array<{ cause: string; ns: number }>;
	max_at_once?: number;
}

interface Finding {
	finding: string;
	count: number;
	ns: number;
	bytes?: number;
	advice: string;
	gain_ns?: number;
	examples?: Array<{ count: number; ns: number; bytes?: number; stack?: Stack }>;
}

export interface Analysis {
	verdict: string;
	start_ns: number;
	end_ns: number;
	devices: Device[];
	kernels: Kernel[];
	kernels_ns: number;
	findings: Finding[];
	syncs?: number;
	syncs_ns?: number;
	host_code?: Array<{ function?: string; file?: string; line?: number; ns: number; samples?: number }>;
	host_ns?: number;
	damaged?: boolean;
}

const VERDICTS: { readonly [verdict: string]: string } = {
	compute_bound: 'The GPU computed most of the time: look at the kernels below.',
	copy_bound: 'The GPU copied most of the time: copy less, use pinned memory, and copy in separate streams beside kernels.',
	launch_bound: 'The GPU waited for the host to launch small operations: launch fewer and larger kernels, or graphs.',
	host_bound: 'The GPU waited for the host most of the time: launch the next operations before the host waits. Gaps lists what it did.',
	waiting: 'The GPU waited for dependencies most of the time: Critical path lists them.',
	model_clock: 'Times of this virtual GPU come from a cost model and are not comparable to host times.',
	unknown: 'The trace does not show what limits the program.',
};

/* At most this share of the warps of the multiprocessors was in use, and what limits it. */
function occupancyText(kernel: Kernel): HTMLElement | string {
	const { share, limit, waves } = kernel.occupancy || {};
	if (share === undefined)
		return '';
	return el('span', { class: 'num', data: { value: share }, title: (limit ? 'limited by: ' + clean(limit, 60) : '') +
		(waves !== undefined ? '\nwaves of blocks: ' + waves.toPrecision(3) : '') }, (share < 0.001 ? '<' : '\u2264 ') + formatShare(Math.max(0.001, share)) +
		(limit ? ', ' + clean(limit, 30).replace(/_/g, ' ') : ''));
}

export class SummaryPanel extends Panel {
	readonly id = 'summary';
	readonly title = 'Summary';
	private started = false;

	override readonly ofWhole = true;

	override forget(): void {
		this.started = false;
		super.forget();
	}

	update(): void {
		if (this.started)
			return;
		if (!this.model.isLarge(this.trace))
			this.start();
		else
			this.showSums();
	}

	/* A large trace: first the sums that the file has, and the whole analysis on request. */
	private showSums(): void {
		this.started = true;
		void this.ask(this.root, 'Reading the sums of the trace\u2026', async () => {
			const info = await this.model.sums(this.trace);
			const shown = briefs((info.kernels || []).map((kernel) => kernel.name), 120);
			const whole = (info.kernels || []).reduce((sum, kernel) => sum + kernel.total_ns, 0);
			return [...this.ends(info), el('div', { class: 'toolbar' }, el('span', {}, 'This trace is large: these are the sums that its index has.'),
				button('Analyse all rows', () => this.start(), { class: 'primary' })),
			table('Kernels with the most time', [
				{ head: 'Kernel', class: 'wide', cell: (k: InfoKernel) => link(shown.get(k.name) || '', k.name, () => void this.showSlowest(k.name)) },
				{ head: 'Total', class: 'number', cell: (k) => number('ns', k.total_ns) },
				{ head: 'Share of these', class: 'number', cell: (k) => formatShare(k.total_ns / Math.max(1, whole)) },
				{ head: 'Launches', class: 'number', cell: (k) => number('count', k.count) },
				{ head: 'Mean', class: 'number', cell: (k) => number('ns', k.mean_ns) },
				{ head: 'Longest', class: 'number', cell: (k) => number('ns', k.max_ns) },
			], info.kernels || [], (k) => ({ data: { kernel: k.name.slice(0, 500) } }))];
		});
	}

	private start(): void {
		this.started = true;
		void this.ask(this.root, 'Analysing the trace\u2026', async (signal) => {
			const [answer, info] = await Promise.all([this.model.api.ask<Analysis>('analyze', { limit: 20 }, this.trace, signal),
				this.model.isLarge(this.trace) ? this.model.sums(this.trace) : this.model.info(this.trace)]);
			return [...this.ends(info), ...this.show(answer)];
		});
	}

	/* Why a trace is empty, rows that are missing, and the processes that did not end by themselves. */
	private ends(info: Info): HTMLElement[] {
		return [...warnings(info, this.model.trace.live), ...deaths(info)].map((text) => el('p', { class: 'bad' }, text));
	}

	private show(answer: Analysis): Array<HTMLElement | undefined> {
		const columns = el('div', { class: 'columns' });
		const main = el('section', { class: 'broad' }, this.kernels(answer));
		const side = el('section', { class: 'narrow' });
		for (const device of answer.devices || [])
			side.append(this.device(device));
		columns.append(main, side);
		main.append(el('h3', {}, 'Findings'));
		if (!answer.findings || !answer.findings.length)
			main.append(el('p', { class: 'dim' }, 'None: no copy, wait or stream stands out.'));
		for (const finding of answer.findings || [])
			main.append(this.finding(finding));
		if (answer.host_code && answer.host_code.length)
			main.append(this.hostCode(answer));
		return [damageNote(answer), el('p', { class: 'lead', id: 'verdict', data: { value: answer.verdict } },
			VERDICTS[answer.verdict] || clean(answer.verdict)), columns];
	}

	private kernels(answer: Analysis): HTMLElement {
		const shown = briefs((answer.kernels || []).map((kernel) => kernel.name), 120);
		return table('Kernels with the most time', [
			{ head: 'Kernel', class: 'wide', cell: (k: Kernel) => link(shown.get(k.name) || '', k.name,
				() => void this.showSlowest(k.name)) },
			{ head: 'Total', class: 'number', cell: (k) => number('ns', k.ns) },
			{ head: 'Share', class: 'number', cell: (k) => formatShare(k.ns / Math.max(1, answer.kernels_ns)) },
			{ head: 'Launches', class: 'number', cell: (k) => number('count', k.count) },
			{ head: 'Mean', class: 'number', cell: (k) => number('ns', k.ns / Math.max(1, k.count)) },
			{ head: 'Occupancy', class: 'number', cell: (k) => occupancyText(k) },
			{ head: 'Launched by', cell: (k) => this.sites(k) },
		], answer.kernels || [], (k) => ({ data: { kernel: k.name.slice(0, 500) } }));
	}

	private sites(kernel: Kernel): HTMLElement {
		const box = el('span');
		const sites = kernel.launched_by || [];
		sites.slice(0, 2).forEach((site, i) => {
			if (i)
				box.append(el('br'));
			box.append(siteText(site));
			if (sites.length > 1)
				box.append(el('span', { class: 'dim' }, ' \u00d7' + (site.count || 0)));
		});
		const more = (kernel.launch_sites || sites.length) - Math.min(2, sites.length);
		if (more > 0)
			box.append(el('span', { class: 'dim' }, ' and ' + more + ' more'));
		return box;
	}

	/* The longest launch of a kernel: selected, in view, with its stack. */
	private async showSlowest(name: string): Promise<void> {
		try {
			const rows = await this.model.api.askLines<Row>('rows',
				{ types: ['kernel'], filter: { name: filterOf(name) }, longest_first: true, limit: 20 }, this.trace);
			const row = rows.find((other) => other.name === name);
			if (row && row.op_id)
				await this.shell.goToOperation(row.op_id as number, this.trace, row.session as number | undefined);
		} catch (error) {
			this.shell.fail(error);
		}
	}

	private device(device: Device): HTMLElement {
		const whole = device.busy_ns + device.idle_ns;
		const parts: Array<readonly [string, number]> = [['compute', device.compute_ns - device.overlap_ns],
			['copy', device.copy_ns]];
		for (const idle of device.idle || [])
			parts.push([idle.cause, idle.ns]);
		return el('div', {}, el('h3', {}, clean('GPU ' + device.device + ' ' + (device.name || ''), 80)),
			el('p', {}, 'Busy ', number('ns', device.busy_ns), ' of ', number('ns', whole), ' (' +
				formatShare(device.busy_ns / Math.max(1, whole)) + ').'),
			deviceShares('Time of GPU ' + device.device, parts, whole),
			link('Why was it idle?', 'The gaps and their causes', () => this.shell.open('gaps', true)));
	}

	private finding(finding: Finding): HTMLElement {
		const box = el('div', { class: 'card', data: { finding: finding.finding } });
		box.append(el('strong', {}, clean(spelled(finding.finding), 60)),
			' ', number('count', finding.count), finding.count === 1 ? ' time, ' : ' times, ', number('ns', finding.ns),
			finding.bytes ? el('span', {}, ', ', number('bytes', finding.bytes)) : '',
			el('p', { class: 'advice' }, clean(finding.advice, 600)));
		if (finding.gain_ns)
			box.append(el('p', { class: 'dim' }, 'At most ' + formatDuration(finding.gain_ns) + ' can be saved.'));
		for (const example of (finding.examples || []).slice(0, 3)) {
			const details = el('details', {}, el('summary', {}, number('count', example.count), example.count === 1 ? ' time, ' : ' times, ',
				number('ns', example.ns), ' by ', clean(siteOf(example.stack) || 'unknown code', 160)), stackList(example.stack));
			box.append(details);
		}
		return box;
	}

	private hostCode(answer: Analysis): HTMLElement {
		return el('div', {}, table('Host code while the GPU was idle', [
			{ head: 'Function', cell: (code) => nameText(code.function || code.file || '?') },
			{ head: 'Time', class: 'number', cell: (code) => number('ns', code.ns) },
			{ head: 'Line', class: 'number', cell: (code) => (code.line ? String(code.line) : '') },
		], answer.host_code || []), facts([['In all', number('ns', answer.host_ns)]]));
	}
}
