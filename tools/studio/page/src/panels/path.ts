// SPDX-License-Identifier: Apache-2.0
// The critical path: what the duration consists of, drawn over the lanes, and the slack of the rows in view. Asks "graph".
import { button, el, link, number, table } from '../core/dom';
import { brief, clean } from '../core/names';
import { formatDuration, formatInstant } from '../core/time';
import { PathStep } from '../model';
import { Panel } from './panel';
import { shares } from './parts';

interface Line {
	type: 'node' | 'edge' | 'step' | 'summary';
	part?: string;
	kind?: string;
	of?: string;
	start_ns: number;
	end_ns: number;
	name?: string;
	session?: number;
	op_id?: number;
	tid?: number;
	device?: number;
	stream?: number;
	slack_ns?: number;
	critical?: boolean;
	parts?: Array<{ part: string; ns: number; steps: number }>;
	model_clock?: boolean;
}

const SLACK_VIEW_NS = 100000000; // slack is read for views up to this long

export class PathPanel extends Panel {
	readonly id = 'path';
	readonly title = 'Critical path';
	private readonly path = el('div');
	private readonly slack = el('div');
	private asked = false;

	update(): void {
		if (this.asked)
			return;
		this.asked = true;
		this.root.replaceChildren(this.path, this.slack);
		void this.ask(this.path, 'Looking for the critical path\u2026', async (signal) => {
			const lines = await this.model.api.askLines<Line>('graph', { path: true }, 0, signal);
			return this.show(lines);
		});
	}

	private show(lines: Line[]): HTMLElement[] {
		const steps = lines.filter((line) => line.type === 'step');
		const summary = lines.find((line) => line.type === 'summary');
		const path: PathStep[] = [];
		for (const step of steps) {
			const onDevice = step.stream !== undefined && (step.part === 'compute' || step.part === 'copy');
			const lane = this.model.findLane(step.session, step.device, onDevice ? step.stream : undefined,
				onDevice ? undefined : step.tid, 0, onDevice ? 'kernel' : 'api') ||
				this.model.findLane(step.session, step.device, step.stream, undefined);
			if (lane)
				path.push({ lane: lane.id, start: this.model.relative(step.start_ns), end: this.model.relative(step.end_ns),
					part: step.part || 'unknown' });
		}
		this.model.path = path;
		this.model.emit('overlay');
		const parts = ((summary && summary.parts) || []).slice().sort((a, b) => b.ns - a.ns);
		const whole = parts.reduce((sum, part) => sum + part.ns, 0);
		const longest = steps.slice().sort((a, b) => length(b) - length(a)).slice(0, 40);
		const hide = button('Hide it in the timeline', () => {
			const shown = this.model.path.length > 0;
			this.model.path = shown ? [] : path;
			hide.textContent = shown ? 'Show it in the timeline' : 'Hide it in the timeline';
			this.model.emit('overlay');
		});
		return [el('div', { class: 'toolbar' }, el('span', { class: 'lead' }, 'The chain of ', number('count', steps.length),
			' steps that led to the latest end: ', number('ns', whole), '.'), hide,
		button('Slack of the rows in view', () => this.showSlack())),
		el('div', { class: 'columns' },
			el('section', { class: 'narrow' }, shares('The critical path by part', parts.map((p) => [p.part, p.ns] as const), whole)),
			el('section', {}, table('Its longest steps', [
				{ head: 'Length', class: 'number', cell: (step: Line) => number('ns', length(step)) },
				{ head: 'Begins', class: 'number', cell: (step) => formatInstant(this.model.relative(step.start_ns)) },
				{ head: 'Part', cell: (step) => clean((step.part || '').replace(/_/g, ' '), 30) },
				{ head: 'Step', cell: (step) => link(brief(step.name || step.part || '?', 100), step.name || '', () =>
					this.shell.goToSpan(this.model.relative(step.start_ns), this.model.relative(step.end_ns))) },
			], longest)))];
	}

	/* How much later each row in view could have ended without a delay of the latest end. */
	private showSlack(): void {
		const { view } = this.model;
		const from = Math.max(0, Math.floor(view.from));
		const to = Math.min(view.duration, Math.ceil(view.to));
		if (to - from > SLACK_VIEW_NS) {
			this.slack.replaceChildren(el('p', { class: 'dim' }, 'Zoom in to at most ' + formatDuration(SLACK_VIEW_NS) +
				' first: slack is computed for each row.'));
			return;
		}
		void this.ask(this.slack, 'Computing slack\u2026', async (signal) => {
			const lines = await this.model.api.askLines<Line>('graph',
				{ from: { ns: from, from_start: true }, to: { ns: to, from_start: true } }, 0, signal);
			const nodes = lines.filter((line) => line.type === 'node' && line.kind === 'operation');
			nodes.sort((a, b) => (a.slack_ns || 0) - (b.slack_ns || 0));
			return [table('Slack in ' + formatInstant(from) + ' to ' + formatInstant(to) + ', least first', [
				{ head: 'Operation', cell: (node: Line) => link(brief(node.name || node.of || '?', 100), node.name || '', () =>
					void this.shell.goToOperation(node.op_id as number)) },
				{ head: 'Slack', class: 'number', cell: (node) => number('ns', node.slack_ns || 0) },
				{ head: 'Critical', cell: (node) => (node.critical ? 'yes' : '') },
				{ head: 'Stream', class: 'number', cell: (node) => String(node.stream ?? '') },
				{ head: 'Duration', class: 'number', cell: (node) => number('ns', length(node)) },
			], nodes.slice(0, 200))];
		});
	}
}

function length(line: Line): number {
	return line.end_ns - line.start_ns;
}
