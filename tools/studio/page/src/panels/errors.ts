// SPDX-License-Identifier: Apache-2.0
// Errors and losses: failed calls with suspects and the memory that was held, what the recorder lost, and what the trace is. Asks
// "info".
import { el, facts, link, nameText, number, table } from '../core/dom';
import { brief, clean, spelled } from '../core/names';
import { formatInstant } from '../core/time';
import { CallError, Info, warnings } from '../data/info';
import { Panel } from './panel';
import { siteText, stackList } from './parts';

const METADATA: { readonly [key: string]: string } = { command: 'Command', hostname: 'Host', kernel: 'System', daemon_version: 'Recorder' };

export class ErrorsPanel extends Panel {
	readonly id = 'errors';
	readonly title = 'Errors and losses';
	override readonly ofWhole = true;

	update(): void {
		void this.ask(this.root, 'Reading what the trace is\u2026', async () => this.show(await this.model.info(this.trace)));
	}

	private show(info: Info): HTMLElement[] {
		const left = el('section');
		const missing = warnings(info, this.model.trace.live);
		left.append(...missing.map((text) => el('p', { class: 'bad' }, text)));
		left.append(el('h3', {}, 'Failed calls: ' + (info.failed_calls || 0)));
		for (const error of info.errors || [])
			left.append(this.error(error));
		if (!info.errors || !info.errors.length)
			left.append(el('p', { class: 'good' }, 'No recorded call failed.'));
		const lost = Object.entries(info.lost || {});
		left.append(el('h3', {}, 'Losses'));
		if (lost.length)
			left.append(table('Lost', [
				{ head: 'Reason', cell: ([reason]: [string, number]) => clean(spelled(reason), 60) },
				{ head: 'Count', class: 'number', cell: ([, count]) => number('count', count) },
			], lost, ([reason]) => ({ data: { lost: reason } })));
		else
			left.append(missing.length ? el('p', { class: 'dim' }, 'The recorder counted no other loss.') :
				el('p', { class: 'good' }, 'Nothing was lost.'));
		const right = el('section');
		right.append(el('h3', {}, 'Trace'), facts([
			['File', nameText(info.path, 300)], ['Format', clean(info.format, 40)], ['Size', number('bytes', info.bytes)],
			['Duration', number('ns', info.duration_ns)],
			['Clock error', info.clock_error_ns !== undefined ? number('ns', info.clock_error_ns) : undefined],
			...Object.entries(info.metadata || {}).filter(([key]) => key in METADATA)
				.map(([key, value]) => [METADATA[key], nameText(value, 300)] as const),
		]));
		right.append(table('Devices', [
			{ head: 'Device', cell: (device) => clean('GPU ' + device.device + ' ' + device.name, 80) },
			{ head: 'Capability', cell: (device) => clean(device.compute_capability || '', 10) },
			{ head: 'Multiprocessors', class: 'number', cell: (device) => number('count', device.multiprocessors) },
			{ head: 'Memory', class: 'number', cell: (device) => number('bytes', device.memory_bytes) },
		], info.devices || []));
		right.append(table('Sessions', [
			{ head: 'Session', cell: (session) => clean(session.program + ' ' + session.pid, 80) },
			{ head: 'End', cell: (session) => clean(session.end_reason || session.state, 80) },
			{ head: 'Threads', class: 'number', cell: (session) => number('count', session.threads) },
		], info.sessions || []));
		const counts = Object.entries(info.counts || {}).filter(([, count]) => count > 0);
		const rows = el('section', { class: 'narrow' }, table('Rows by type', [
			{ head: 'Type', cell: ([type]: [string, number]) => clean(spelled(type), 40) },
			{ head: 'Rows', class: 'number', cell: ([, count]) => number('count', count) },
		], counts));
		return [el('div', { class: 'columns' }, left, right, rows)];
	}

	private error(error: CallError): HTMLElement {
		const at = this.model.relative(error.start_ns, this.trace);
		const shown = at + this.model.offsetOfTrace(this.trace);
		const box = el('div', { class: 'card', data: { error: error.error } });
		box.append(el('strong', { class: 'bad' }, clean(error.error, 80)), ' from ', clean(error.name, 80),
			error.count > 1 ? ', ' + error.count + ' times, first at ' : ' at ',
			error.op_id ? link(formatInstant(at), 'Show the call', () => void this.shell.goToOperation(error.op_id as number, this.trace, error.session)) :
				link(formatInstant(at), 'Show the time', () => this.shell.goToSpan(shown, shown + 1)),
			' in ' + clean((error.thread_name || 'thread') + '/' + (error.tid ?? '?'), 60), '.');
		if (error.bytes)
			box.append(el('p', {}, 'It asked for ', number('bytes', error.bytes), '; ', number('bytes', error.held_bytes || 0),
				' were in use.'));
		for (const site of (error.held_sites || []).slice(0, 5))
			box.append(el('div', {}, number('bytes', site.total_bytes || 0), ' held by ', siteText(site)));
		for (const suspect of (error.suspects || []).slice(0, 5))
			box.append(el('div', {}, 'Suspect: ', link(brief(suspect.kernel || 'operation ' + suspect.op_id, 120), '', () =>
				void this.shell.goToOperation(suspect.op_id, this.trace, error.session))));
		box.append(el('details', {}, el('summary', {}, 'Stack of the call'), stackList(error.stack)));
		return box;
	}

	/* The number of failed calls, kinds of losses and warnings, for the tab's badge. */
	async badge(): Promise<number> {
		const info = await this.model.info(this.trace);
		return (info.failed_calls || 0) + Object.keys(info.lost || {}).length + warnings(info, this.model.trace.live).length;
	}
}
