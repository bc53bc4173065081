// SPDX-License-Identifier: Apache-2.0
// Joins the timeline, the panels, the bar and the keys. The panels know it as their shell.
import { byId, button, el } from './core/dom';
import { formatFragment, ViewState } from './core/fragment';
import { Integer } from './core/json';
import { baseName, clean, shorten } from './core/names';
import { formatCount, formatDuration, formatInstant, parseTime } from './core/time';
import { ApiError, isAbort, Match, RowColumns } from './data/api';
import { GapMarks } from './data/gap-marks';
import { ColourMode, Model, Selection } from './model';
import { ComparePanel } from './panels/compare';
import { ErrorsPanel } from './panels/errors';
import { GapsPanel } from './panels/gaps';
import { LivePanel } from './panels/live';
import { MemoryPanel } from './panels/memory';
import { Shell } from './panels/panel';
import { PathPanel } from './panels/path';
import { ReplayPanel } from './panels/replay';
import { SelectionPanel } from './panels/selection';
import { SpanPanel } from './panels/span';
import { StatePanel } from './panels/state';
import { SummaryPanel } from './panels/summary';
import { Tabs } from './panels/tabs';
import { WhatIfPanel } from './panels/what-if';
import { bindingOf, keyCap, keyName, KEYS } from './timeline/keys';
import { Hit } from './timeline/painter';
import { Timeline } from './timeline/timeline';

const COLOURS: ReadonlyArray<ColourMode> = ['name', 'type', 'stream', 'correlation', 'cause'];
const SWITCHES: ReadonlyArray<string> = ['fold', 'isolate', 'mark', 'colour', 'arrows', 'theme', 'link', 'help'];
const ADDRESS_DELAY = 400;
const MOST_ARROWS = 500;
const SETTLE_DELAY = 250; // the panels ask when the cursor or the view rests
const REST_MS = 2500;     // a question that reads a large trace waits until the view has rested for so long
const FIRST_MS = 1500;    // the panels wait so long for the first picture

/* "1 gap", "12 gaps". */
function count(n: number, what: string): string {
	return formatCount(n) + ' ' + what + (n === 1 ? '' : 's');
}

export class Studio implements Shell {
	private readonly timeline: Timeline;
	private readonly tabs: Tabs;
	private readonly gaps: GapsPanel[]; // of each trace
	private readonly gapMarks: GapMarks;
	private readonly live: LivePanel;
	private readonly errors: ErrorsPanel;
	private addressTimer: ReturnType<typeof setTimeout> | undefined;
	private settleTimer: ReturnType<typeof setTimeout> | undefined;
	private searching: AbortController | undefined;
	private match: Match | undefined;
	private allArrows = false; // of the view, not of the selected operation alone
	private readingArrows: AbortController | undefined;
	private arrowsOf = '';     // the view whose arrows are shown
	private found = { of: '', gaps: '', arrows: '' }; // in the view `of`
	private choices = 0;       // what the user chose last: an earlier answer that comes later chooses nothing
	private stepping = false;  // a step to another row is on its way
	private isDrawn = false;   // the first picture is complete
	private movedAt = 0;       // time of the last change of the view, the cursor or the selection

	constructor(readonly model: Model, private readonly token: string, readonly fail: (error: unknown) => void) {
		const two = model.trace.traces > 1;
		this.gaps = (two ? [0, 1] : [0]).map((trace) => new GapsPanel(this, trace));
		this.gapMarks = new GapMarks(model, (n) => this.note('gaps', count(n, 'gap')));
		this.live = new LivePanel(this);
		this.errors = new ErrorsPanel(this);
		const panels = [new SummaryPanel(this), new SelectionPanel(this), new SpanPanel(this), new StatePanel(this), this.gaps[0],
			new MemoryPanel(this), new PathPanel(this), this.errors, new WhatIfPanel(this), new ReplayPanel(this),
			...(two ? [new ComparePanel(this)] : []), ...(model.trace.live ? [this.live] : [])];
		const second = two ? [new SummaryPanel(this, 1), new SpanPanel(this, 1), new StatePanel(this, 1), this.gaps[1],
			new MemoryPanel(this, 1), new PathPanel(this, 1), new ErrorsPanel(this, 1), new ReplayPanel(this, 1)] : [];
		this.tabs = new Tabs(panels, second, () => this.saveAddress());
		this.timeline = new Timeline(model, (error) => this.failed(error), (hit) => this.clicked(hit));
	}

	start(state: ViewState): void {
		const { model } = this;
		const title = clean(model.trace.path, 300);
		const { second_path: second } = model.trace;
		byId('title').textContent = second ? 'A ' + baseName(title) + ', B ' + baseName(clean(second, 300)) :
			title.slice(title.lastIndexOf('/', title.lastIndexOf('/') - 1) + 1);
		byId('title').title = second ? 'A ' + title + '\nB ' + clean(second, 300) : title;
		document.title = title.slice(title.lastIndexOf('/') + 1) + ' \u2013 TraceSmith Studio';
		if (model.trace.changed)
			this.fail('The file has changed since the server opened it, and the page shows the earlier one. Start `tsctl studio` again.');
		this.theme(undefined);
		this.listen();
		this.timeline.layout();
		this.restore(state);
		this.timeline.start();
		// The first picture comes before the panels' questions.
		this.whenDrawn(() => {
			this.isDrawn = true;
			this.movedAt = performance.now();
			if (this.model.colour === 'cause')
				void this.readGaps();
			// The user may have been faster.
			if (!this.tabs.current) {
				this.tabs.setSide(state.side || 0);
				this.tabs.open(state.tab || 'summary');
			}
			this.badge();
		}, performance.now() + FIRST_MS);
		if (model.trace.live)
			this.live.start((duration) => this.grow(duration), () => this.model.colour === 'cause' && this.gapMarks.isBehind);
		(window as unknown as { studio: unknown }).studio = { idle: () => this.timeline.idle() && !this.gapMarks.busy };
	}

	/* Calls `next` when the picture is complete, at a time at the latest. */
	private whenDrawn(next: () => void, latest: number): void {
		if (this.timeline.idle() || performance.now() > latest)
			next();
		else
			setTimeout(() => this.whenDrawn(next, latest), 10);
	}

	/* The timeline's requests failed. The server keeps few emulations: one that is gone is drawn no more. */
	private failed(error: unknown): void {
		if (error instanceof ApiError && error.status === 404 && this.model.layer) {
			this.model.layer = 0;
			this.model.tree.setLayer(0);
			this.model.emit('lanes');
		}
		this.fail(error);
	}

	/* ---- the shell of the panels ---- */

	open(tab: string, focus = false): void {
		this.tabs.open(tab, focus);
	}

	async goToOperation(op: Integer, trace: number, session: number | undefined, reveal = true): Promise<void> {
		const choice = ++this.choices;
		try {
			const row = await this.model.api.rowOf(op, trace, session);
			const lane = this.model.laneOfRow(row, trace);
			if (!lane)
				return;
			const start = this.model.relative(row.start_ns, trace);
			const end = this.model.relative(row.end_ns, trace);
			const found = await this.find(lane.id, start, end, op, 0);
			if (choice === this.choices)
				this.choose(found, reveal);
		} catch (error) {
			if (!isAbort(error))
				this.fail(error);
		}
	}

	/* The row of a lane with these times, with its depth. */
	private async find(lane: number, start: number, end: number, op: Integer, key: number): Promise<Selection> {
		const rows = await this.model.api.rows(lane, start, end + 1, 64, 0);
		let index = rows.op.findIndex((other, i) => String(other) === String(op) && rows.start[i] === start);
		if (index < 0)
			index = rows.start.findIndex((other, i) => other === start && rows.end[i] === end);
		return { lane, start, end, op, key: index < 0 ? key : rows.key[index], depth: index < 0 ? 0 : rows.depth[index] };
	}

	/* The row of a match, with its depth. */
	private async findMatch(match: Match): Promise<Selection> {
		const { lane, start, end, op, key, row } = match;
		const rows = await this.model.api.numbered(lane, start);
		const index = (rows.row || []).findIndex((number) => String(number) === String(row));
		return { lane, start, end, op, key, depth: index < 0 ? 0 : rows.depth[index], row };
	}

	goToSpan(from: number, to: number, lane?: number): void {
		const margin = Math.max(1, to - from) * 0.6;
		this.model.show(from - margin, to + margin);
		this.model.setCursor((from + to) / 2);
		const shown = lane !== undefined ? this.model.tree.shown(lane) : undefined;
		if (shown)
			this.timeline.scrollTo(shown);
	}

	explainGap(op: Integer, trace: number, session: number | undefined): void {
		if (String(op) === '0') {
			this.announce('the selected row has no operation');
			return;
		}
		this.tabs.setSide(trace);
		this.gaps[trace].explain(op, session);
		this.open('gaps');
	}

	announce(text: string): void {
		byId('announcer').textContent = clean(text, 500);
	}

	/* ---- what the timeline reports ---- */

	private clicked(hit: Hit): void {
		const choice = ++this.choices;
		this.tabs.setSide(this.model.traceOf(hit.lane.info.id));
		if (hit.deeper) {
			this.model.tree.expand(hit.lane.info.id, true);
			this.model.emit('lanes');
			return;
		}
		if (hit.lane.layer) {
			// An emulated row has other times than the row of the trace, which the panels know.
			if (hit.row)
				this.chooseEmulated(hit.row.op, hit.lane.info.session);
			else if (hit.cell && hit.cell.share > 0)
				void this.chooseAt(hit, choice);
			return;
		}
		if (hit.row) {
			this.choose({ ...hit.row }, false);
			return;
		}
		if (hit.cell && hit.cell.share > 0) {
			void this.chooseAt(hit, choice);
			return;
		}
		// An empty place of a stream is a gap: explain it.
		if (hit.lane.info.kind === 'stream') {
			this.model.select(undefined);
			void this.gapAt(hit, choice);
			return;
		}
		this.model.select(undefined);
		if (this.tabs.current !== 'memory' && this.tabs.current !== 'span')
			this.open('state');
	}

	private choose(selection: Selection, reveal: boolean): void {
		this.model.select(selection);
		if (reveal)
			this.timeline.reveal(selection);
		if (this.tabs.current !== 'state' && this.tabs.current !== 'compare' && this.tabs.current !== 'what-if')
			this.open('selection');
		this.describe();
	}

	private chooseEmulated(op: Integer, session: number | undefined): void {
		if (String(op) !== '0')
			void this.goToOperation(op, 0, session, false);
	}

	/* The row at a place that is drawn from tiles. */
	private async chooseAt(hit: Hit, choice: number): Promise<void> {
		const slack = this.model.view.nsPerPixel * 2;
		try {
			const rows = await this.model.api.rows(hit.lane.info.id, hit.ns - slack, hit.ns + slack, 200, hit.lane.layer);
			let best = -1;
			for (let i = 0; i < rows.start.length; i++) {
				const length = rows.end[i] - rows.start[i];
				if (best < 0 || length > rows.end[best] - rows.start[best])
					best = i;
			}
			if (best < 0 || choice !== this.choices)
				return;
			if (hit.lane.layer)
				this.chooseEmulated(rows.op[best], hit.lane.info.session);
			else
				this.choose({ lane: hit.lane.info.id, start: rows.start[best], end: rows.end[best], key: rows.key[best],
					op: rows.op[best], depth: rows.depth[best] }, false);
		} catch (error) {
			this.fail(error);
		}
	}

	private async gapAt(hit: Hit, choice: number): Promise<void> {
		try {
			const rows = await this.model.api.rows(hit.lane.info.id, hit.ns, this.model.view.duration + 1, 2, 0);
			const next = rows.start.findIndex((start) => start > hit.ns);
			if (choice !== this.choices)
				return;
			if (next >= 0)
				this.explainGap(rows.op[next], this.model.traceOf(hit.lane.info.id), hit.lane.info.session);
			else
				this.open('state');
		} catch (error) {
			this.fail(error);
		}
	}

	private describe(tries = 20): void {
		const { selection } = this.model;
		if (!selection)
			return;
		const name = this.model.nameOf(selection.lane, selection.key).full;
		if (!name && selection.key && tries > 0) {
			// The name is on its way.
			this.model.names.flush();
			setTimeout(() => {
				if (this.model.selection === selection)
					this.describe(tries - 1);
			}, 50);
			return;
		}
		const lane = this.model.lane(selection.lane);
		const text = (name ? shorten(name) : 'row') + ', ' + formatDuration(selection.end - selection.start) + ' at ' +
			formatInstant(selection.start) + (lane ? ', ' + clean(lane.name, 80) : '');
		byId('description').textContent = text;
		this.announce(text);
	}

	/* ---- bar and keys ---- */

	private listen(): void {
		const { model } = this;
		for (const change of ['view', 'cursor', 'span', 'marks', 'lanes', 'selection'] as const)
			model.on(change, () => this.changed(change));
		byId('search-form').addEventListener('submit', (event) => {
			event.preventDefault();
			void this.search(1);
		});
		byId('search-previous').addEventListener('click', () => void this.search(-1));
		byId<HTMLInputElement>('search').addEventListener('input', () => this.forgetSearch());
		byId('colour').addEventListener('change', () => this.setColour(byId<HTMLSelectElement>('colour').value as ColourMode));
		byId('show-all').addEventListener('click', () => this.act('show-all'));
		byId('arrows').addEventListener('click', () => this.act('arrows'));
		byId('mark').addEventListener('click', () => this.act('mark'));
		byId('link').addEventListener('click', () => this.act('link'));
		byId('theme').addEventListener('click', () => this.act('theme'));
		byId('help').addEventListener('click', () => this.act('help'));
		byId('notice').addEventListener('click', () => {
			byId('notice').hidden = true;
		});
		byId('skip').addEventListener('click', (event) => {
			event.preventDefault();
			byId('panel-body').focus();
		});
		document.addEventListener('keydown', (event) => this.key(event));
		document.addEventListener('keyup', (event) => {
			const binding = bindingOf(event.key);
			if (binding && binding.held)
				this.timeline.hold(binding.action, false);
		});
		window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme(undefined));
		window.addEventListener('hashchange', () => location.reload());
		this.listenSplitter();
	}

	private changed(change: string): void {
		if (change === 'cursor')
			this.tabs.invalidate('state', 'memory');
		if (change === 'selection') {
			this.tabs.invalidate('selection');
			if (this.model.selection)
				this.tabs.setSide(this.model.traceOf(this.model.selection.lane));
		}
		const { view, offset } = this.model;
		const shown = [view.from, view.to, offset].join('..');
		if (change === 'span' || (this.found.of !== shown && !this.model.span))
			this.tabs.invalidate('span');
		this.movedAt = performance.now();
		if (this.settleTimer)
			clearTimeout(this.settleTimer);
		this.settleTimer = setTimeout(() => {
			this.tabs.refresh();
			if (this.allArrows)
				void this.readArrows();
			if (this.model.colour === 'cause')
				void this.readGaps();
		}, change === 'selection' ? 0 : SETTLE_DELAY);
		this.gapMarks.moved();
		if (this.found.of !== shown)
			this.found = { of: shown, gaps: '', arrows: '' };
		this.showFound();
		this.saveAddress();
	}

	/* Keeps what was found in the view. */
	private note(what: 'gaps' | 'arrows', text: string): void {
		if (text && text !== this.found[what])
			this.announce(text);
		this.found[what] = text;
		this.showFound();
	}

	/* The length of the view, and what was found in it. */
	private showFound(): void {
		const corner = byId('corner');
		// The view may have room before and after the trace.
		const seen = Math.min(this.model.view.to, this.model.view.duration) - Math.max(0, this.model.view.from);
		corner.textContent = [formatDuration(Math.max(0, seen)) + ' in view', this.found.gaps, this.found.arrows].filter(Boolean).join(', ');
		corner.title = corner.textContent;
	}

	private key(event: KeyboardEvent): void {
		const target = event.target as HTMLElement;
		const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
		if (event.key === 'Escape' && typing) {
			// The browser empties the field.
			if (target.id === 'search')
				this.forgetSearch();
			byId('canvas').focus();
			return;
		}
		if (byId<HTMLDialogElement>('help-dialog').open)
			return;
		const name = keyName(event);
		const binding = bindingOf(name);
		if (!binding || (typing && name !== 'Ctrl+f'))
			return;
		const inTimeline = target === document.body || target.closest('#timeline') !== null;
		// Keys with a meaning of their own in controls act in the timeline only.
		if (!inTimeline && ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Enter', 'Home'].includes(event.key))
			return;
		if (event.key === 'Enter' && target instanceof HTMLButtonElement)
			return;
		if (target.id === 'splitter' && event.key.startsWith('Arrow'))
			return;
		event.preventDefault();
		// A key that is held down switches once.
		if (event.repeat && SWITCHES.includes(binding.action))
			return;
		if (binding.held)
			this.timeline.hold(binding.action, true);
		else
			this.act(binding.action);
	}

	private act(action: string): void {
		const { model } = this;
		switch (action) {
		case 'lane-up':
		case 'lane-down': {
			const lane = this.timeline.moveLane(action === 'lane-up' ? -1 : 1);
			if (lane)
				this.announce(clean(lane.info.name, 120) + ', ' + lane.info.rows + ' rows' +
					(lane.children.length ? (lane.folded ? ', folded' : ', unfolded') : ''));
			break;
		}
		case 'row-previous': void this.step(-1); break;
		case 'row-next': void this.step(1); break;
		case 'cursor-left': model.setCursor((model.cursor ?? (model.view.from + model.view.to) / 2) - 10 * model.view.nsPerPixel); break;
		case 'cursor-right': model.setCursor((model.cursor ?? (model.view.from + model.view.to) / 2) + 10 * model.view.nsPerPixel); break;
		case 'fold': this.timeline.foldFocused(); break;
		case 'isolate': this.timeline.isolateFocused(); break;
		case 'fit': this.fit(); break;
		case 'show-all': model.view.showAll(); model.emit('view'); break;
		case 'gap':
			if (model.selection)
				this.explainGap(model.selection.op, model.traceOf(model.selection.lane), model.lane(model.selection.lane)?.session);
			break;
		case 'row-span':
			if (model.selection) {
				const { start, end, lane } = model.selection;
				model.setSpan([start + model.offsetOf(lane), Math.max(end, start + 1) + model.offsetOf(lane)]);
			}
			break;
		case 'mark': this.toggleMark(); break;
		case 'mark-previous': this.goToMark(-1); break;
		case 'mark-next': this.goToMark(1); break;
		case 'search': byId<HTMLInputElement>('search').select(); byId('search').focus(); break;
		case 'search-next': void this.search(1); break;
		case 'search-previous': void this.search(-1); break;
		case 'colour': this.setColour(COLOURS[(COLOURS.indexOf(model.colour) + 1) % COLOURS.length]); break;
		case 'arrows': this.toggleArrows(); break;
		case 'theme': this.theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'); break;
		case 'panel': byId('panel-body').focus(); break;
		case 'link': void this.copyLink(); break;
		case 'clear': this.clear(); break;
		case 'help': this.help(); break;
		}
	}

	private toggleArrows(): void {
		this.allArrows = !this.allArrows;
		byId('arrows').setAttribute('aria-pressed', String(this.allArrows));
		this.model.viewArrows = [];
		this.arrowsOf = '';
		this.note('arrows', '');
		if (this.readingArrows)
			this.readingArrows.abort();
		if (this.allArrows)
			void this.readArrows();
		this.model.emit('overlay');
	}

	/* Arrows of all operations in view, if they are few enough. */
	private async readArrows(): Promise<void> {
		const { view, offset } = this.model;
		const from = Math.max(0, view.from);
		const to = Math.min(view.duration, view.to);
		const asked = [from, to, offset].join('..');
		if (this.arrowsOf === asked)
			return;
		this.arrowsOf = asked;
		if (this.readingArrows)
			this.readingArrows.abort();
		const controller = new AbortController();
		this.readingArrows = controller;
		try {
			const traces = this.model.trace.traces > 1 ? [0, 1] : [0];
			const answers = await Promise.all(traces.map((trace) => {
				const later = this.model.offsetOfTrace(trace);
				return this.model.api.arrows(from - later, to - later, MOST_ARROWS, trace, controller.signal);
			}));
			if (controller.signal.aborted)
				return;
			this.model.viewArrows = answers.flatMap((answer) => answer.arrows);
			this.note('arrows', count(this.model.viewArrows.length, 'arrow'));
		} catch (error) {
			if (isAbort(error))
				return;
			this.model.viewArrows = [];
			this.note('arrows', error instanceof ApiError && error.status === 400 ? 'zoom in to see arrows' : 'no arrows');
		}
		this.model.emit('overlay');
	}

	/* The gaps of the view, for colours by cause. */
	private async readGaps(): Promise<void> {
		if (!this.isDrawn)
			return;
		try {
			await this.gapMarks.read();
		} catch (error) {
			if (!isAbort(error))
				this.note('gaps', 'no gaps: ' + clean(error instanceof Error ? error.message : error, 120));
		}
	}

	private fit(): void {
		const { selection, span } = this.model;
		if (selection) {
			const offset = this.model.offsetOf(selection.lane);
			const margin = Math.max(1, selection.end - selection.start) * 0.1;
			this.model.show(selection.start + offset - margin, selection.end + offset + margin);
		} else if (span) {
			this.model.show(span[0], span[1]);
		}
	}

	private clear(): void {
		this.choices++;
		byId('notice').hidden = true;
		this.model.setSpan(undefined);
		this.model.select(undefined);
		this.forgetSearch();
	}

	private forgetSearch(): void {
		byId('search-result').textContent = '';
		this.match = undefined;
	}

	/* The row before or after the selected one in its lane, by start. One step at a time: a held key waits for the answer. */
	private async step(direction: 1 | -1): Promise<void> {
		const { model } = this;
		const { selection } = model;
		const lane = model.focusedLane;
		if (lane === undefined || this.stepping)
			return;
		// Processes and groups have no rows, and the server knows no groups.
		if (!model.lane(lane)?.rows) {
			this.announce('no rows in this lane');
			return;
		}
		const offset = model.offsetOf(lane);
		const now = selection && selection.lane === lane ? selection : undefined;
		const from = now ? now.start : Math.max(0, (model.cursor ?? model.view.from) - offset);
		const choice = ++this.choices;
		this.stepping = true;
		try {
			const [rows, index] = direction > 0 ? await this.rowAfter(lane, from, now) : await this.rowBefore(lane, from);
			if (choice === this.choices)
				this.chooseRow(lane, rows, index);
		} catch (error) {
			this.fail(error);
		} finally {
			this.stepping = false;
		}
	}

	private async rowAfter(lane: number, from: number, now: Selection | undefined): Promise<[RowColumns, number]> {
		const { api, view } = this.model;
		const rows = await api.rows(lane, from, view.duration + 1, 64, 0);
		const index = rows.start.findIndex((start, i) => (now ? start > from ||
			(start === from && rows.depth[i] > now.depth) : start >= from));
		if (index >= 0 || now || from <= 0)
			return [rows, index];
		const first = await api.rows(lane, 0, view.duration + 1, 1, 0);
		return [first, first.start.length ? 0 : -1];
	}

	/* Looks farther and farther back, and nearer again where too many rows are. */
	private async rowBefore(lane: number, from: number): Promise<[RowColumns, number]> {
		const { api, view } = this.model;
		let width = Math.max(1000, Math.floor(view.span / 16));
		let [empty, full] = [0, Infinity];
		for (;;) {
			const rows = await api.rows(lane, Math.max(0, from - width), from, 4000, 0);
			let index = -1;
			rows.start.forEach((start, i) => {
				if (start < from)
					index = i;
			});
			if (rows.more)
				full = width;
			else if (index >= 0 || width >= from)
				return [rows, index];
			else
				empty = width;
			if (full - empty <= 1)
				return [rows, index];
			width = full === Infinity ? width * 8 : Math.floor((empty + full) / 2);
		}
	}

	private chooseRow(lane: number, rows: RowColumns, index: number): void {
		if (index < 0) {
			this.announce('no further row');
			return;
		}
		const selection = { lane, start: rows.start[index], end: rows.end[index], key: rows.key[index], op: rows.op[index],
			depth: rows.depth[index] };
		this.model.select(selection);
		const offset = this.model.offsetOf(lane);
		const { view } = this.model;
		if (selection.end + offset < view.from || selection.start + offset > view.to)
			this.model.show(selection.start + offset - view.span / 2, selection.start + offset + view.span / 2);
		this.open('selection');
		this.describe();
	}

	private setColour(mode: ColourMode): void {
		this.model.colour = mode;
		byId<HTMLSelectElement>('colour').value = mode;
		if (mode === 'cause') {
			void this.readGaps();
		} else {
			this.gapMarks.stop();
			this.note('gaps', '');
		}
		this.model.emit('colour');
		this.saveAddress();
	}

	/* Sets the theme; undefined: the one chosen before, or the system's. */
	private theme(theme: 'dark' | 'light' | undefined): void {
		let chosen: string | null = theme || null;
		try {
			if (theme)
				localStorage.setItem('tracesmith-theme', theme);
			chosen = chosen || localStorage.getItem('tracesmith-theme');
		} catch (_) {
			// Storage is off: the choice holds until the page closes.
		}
		if (chosen !== 'dark' && chosen !== 'light')
			chosen = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
		document.documentElement.dataset.theme = chosen;
		this.model.emit('colour');
	}

	private async search(direction: 1 | -1): Promise<void> {
		const text = byId<HTMLInputElement>('search').value.trim();
		const result = byId('search-result');
		if (!text)
			return;
		const time = /[a-zµμ@.]/i.test(text) || /^\d{4,}$/.test(text) ? parseTime(text) : undefined;
		if (time !== undefined && time <= this.model.view.duration) {
			this.goToTime(time);
			result.textContent = 'time';
			return;
		}
		if (this.searching)
			this.searching.abort();
		const controller = new AbortController();
		const choice = ++this.choices;
		this.searching = controller;
		const trace = this.model.focusedLane === undefined ? 0 : this.model.traceOf(this.model.focusedLane);
		const offset = this.model.offsetOfTrace(trace);
		const edge = direction > 0 ? this.model.view.from - offset - 1 : Math.max(0, this.model.view.to - offset);
		const from = this.match && this.model.traceOf(this.match.lane) === trace ? this.match : edge < 0 ? undefined : edge;
		result.textContent = 'searching\u2026';
		try {
			const regex = byId<HTMLInputElement>('search-regex').checked;
			let found: Match;
			let again = '';
			try {
				found = await this.model.api.search(text, from, direction, regex, trace, controller.signal);
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 404)
					throw error;
				// Go on at the other end.
				again = this.match ? direction > 0 ? ', from the start again' : ', from the end again' : '';
				found = await this.model.api.search(text, undefined, direction, regex, trace, controller.signal);
			}
			this.match = found;
			result.textContent = formatCount(found.matches) + (found.matches === 1 ? ' match' : ' matches') + again;
			const row = await this.findMatch(found);
			if (choice === this.choices)
				this.choose(row, true);
		} catch (error) {
			if (isAbort(error))
				return;
			result.textContent = error instanceof ApiError && error.status === 404 ? 'no match' :
				clean(error instanceof Error ? error.message.replace(/^text: /, '') : error, 120);
			result.title = result.textContent;
		}
	}

	private goToTime(ns: number): void {
		const { view } = this.model;
		if (ns < view.from || ns > view.to)
			this.model.show(ns - view.span / 2, ns + view.span / 2);
		this.model.setCursor(ns);
		this.open('state');
	}

	private toggleMark(): void {
		const { model } = this;
		const at = model.cursor ?? Math.round((model.view.from + model.view.to) / 2);
		const near = model.marks.findIndex((mark) => Math.abs(mark.ns - at) < model.view.nsPerPixel * 5);
		if (near >= 0) {
			model.marks.splice(near, 1);
			this.announce('bookmark removed');
		} else if (model.marks.length < 100) {
			const { selection } = model;
			const offset = selection ? model.offsetOf(selection.lane) : 0;
			const isInside = selection && at >= selection.start + offset && at <= selection.end + offset;
			const name = selection && isInside ? clean(model.nameOf(selection.lane, selection.key).short, 40) : '';
			model.marks.push({ ns: Math.round(at), label: name || String(model.marks.length + 1) });
			model.marks.sort((a, b) => a.ns - b.ns);
			this.announce('bookmark set at ' + formatInstant(at));
		}
		model.emit('marks');
	}

	private goToMark(direction: 1 | -1): void {
		const { model } = this;
		const now = model.cursor ?? (model.view.from + model.view.to) / 2;
		const list = direction > 0 ? model.marks.filter((mark) => mark.ns > now + 1) : model.marks.filter((mark) => mark.ns < now - 1).reverse();
		if (!list.length)
			return;
		model.setCursor(list[0].ns);
		model.reveal(list[0].ns, list[0].ns);
		this.announce('bookmark ' + list[0].label);
	}

	private help(): void {
		const dialog = byId<HTMLDialogElement>('help-dialog');
		const list = el('div', { class: 'keys' });
		for (const binding of KEYS) {
			const keys = el('span');
			binding.keys.filter((key, i, all) => all.findIndex((other) => other.toLowerCase() === key.toLowerCase()) === i)
				.forEach((key, i) => keys.append(i ? ' ' : '', el('kbd', {}, keyCap(key))));
			list.append(el('div', {}, keys, el('span', {}, binding.help)));
		}
		dialog.replaceChildren(el('h2', { id: 'help-title' }, 'Keys and mouse'), list,
			el('p', {}, 'Wheel: zoom at the pointer. Drag: move. Shift and wheel: move sideways. Alt and wheel, or the wheel over the names: ' +
				'scroll the lanes. Shift and drag, or drag on the ruler: measure a span. Click an empty place of a stream: why it was idle. ' +
				'Double click: zoom to a row.'),
			button('Close', () => dialog.close(), { class: 'primary' }));
		dialog.showModal();
	}

	private listenSplitter(): void {
		const splitter = byId('splitter');
		const panel = byId('panel');
		const set = (percent: number): void => {
			const value = Math.max(8, Math.min(85, percent));
			panel.style.height = value + '%';
			splitter.setAttribute('aria-valuenow', String(Math.round(value)));
		};
		splitter.addEventListener('pointerdown', (event) => splitter.setPointerCapture(event.pointerId));
		splitter.addEventListener('pointermove', (event) => {
			if (!splitter.hasPointerCapture(event.pointerId))
				return;
			const box = byId('main').getBoundingClientRect();
			set((box.bottom - event.clientY) / box.height * 100);
		});
		splitter.addEventListener('keydown', (event) => {
			const step = event.key === 'ArrowUp' ? 5 : event.key === 'ArrowDown' ? -5 : 0;
			if (!step)
				return;
			event.preventDefault();
			set(Number(splitter.getAttribute('aria-valuenow')) + step);
		});
	}

	/* ---- the address ---- */

	private viewState(): ViewState {
		const { model } = this;
		const state: ViewState = { token: this.token, from: model.view.from, to: model.view.to, tab: this.tabs.current };
		state.from = Math.max(0, model.view.from);
		state.to = Math.min(model.view.duration, model.view.to);
		if (model.selection) {
			state.lane = model.selection.lane;
			state.row = model.selection.start;
			state.op = String(model.selection.op);
		}
		state.at = model.cursor;
		state.span = model.span;
		state.marks = model.marks;
		state.folded = model.tree.foldedIds();
		state.expanded = model.tree.expandedIds();
		state.side = this.tabs.side;
		state.offset = model.offset;
		if (model.colour !== 'name')
			state.colour = model.colour;
		return state;
	}

	private saveAddress(): void {
		if (this.addressTimer)
			clearTimeout(this.addressTimer);
		this.addressTimer = setTimeout(() => {
			// replaceState: no entry of the history for each step, and no hashchange.
			history.replaceState(null, '', formatFragment(this.viewState()));
		}, ADDRESS_DELAY);
	}

	private restore(state: ViewState): void {
		const { model } = this;
		if (state.folded)
			model.tree.setFolded(state.folded);
		for (const lane of state.expanded || [])
			model.tree.expand(lane, true);
		if (state.marks)
			model.marks = state.marks;
		if (state.offset)
			model.offset = state.offset;
		if (state.from !== undefined && state.to !== undefined)
			model.view.show(state.from, state.to);
		else
			model.view.showAll();
		if (state.span)
			model.setSpan(state.span);
		if (state.at !== undefined)
			model.setCursor(state.at);
		if (COLOURS.includes(state.colour as ColourMode))
			this.setColour(state.colour as ColourMode);
		if (state.lane !== undefined && state.row !== undefined)
			void this.restoreRow(state.lane, state.row, state.op);
		else if (state.op !== undefined && state.op !== '0')
			void this.restoreSelection(state.op, state.lane);
		model.emit('lanes');
	}

	private async restoreRow(lane: number, start: number, op: string | undefined): Promise<void> {
		try {
			const rows = await this.model.api.rows(lane, start, start + 1, 64, 0);
			let index = rows.start.findIndex((other, i) => other === start && (op === undefined || String(rows.op[i]) === op));
			if (index < 0)
				index = rows.start.indexOf(start);
			if (index >= 0)
				this.model.select({ lane, start, end: rows.end[index], key: rows.key[index], op: rows.op[index], depth: rows.depth[index] });
			const shown = this.model.tree.shown(lane);
			if (shown)
				this.timeline.scrollTo(shown);
			this.describe();
		} catch (_) {
			// The link is of another trace, or older: the view alone is restored.
		}
	}

	private async restoreSelection(op: string, lane: number | undefined): Promise<void> {
		const { view } = this.model;
		const before = [view.from, view.to] as const;
		const tab = this.tabs.current;
		await this.goToOperation(op, lane !== undefined ? this.model.traceOf(lane) : 0, lane !== undefined ? this.model.lane(lane)?.session : undefined);
		this.model.show(before[0], before[1]);
		if (tab)
			this.open(tab);
	}

	private async copyLink(): Promise<void> {
		const address = location.origin + location.pathname + formatFragment(this.viewState());
		history.replaceState(null, '', formatFragment(this.viewState()));
		try {
			await navigator.clipboard.writeText(address);
			byId('search-result').textContent = 'link copied';
			this.announce('link copied');
		} catch (_) {
			byId('search-result').textContent = 'the address bar has the link';
		}
	}

	/* The number on the tab of errors. Finding the failed calls of a large trace takes reading all calls. */
	private badge(): void {
		const rested = performance.now() - this.movedAt;
		if (this.model.isLarge(0) && rested < REST_MS) {
			setTimeout(() => this.badge(), REST_MS - rested);
			return;
		}
		this.errors.badge().then((count) => this.tabs.badge('errors', count)).catch(() => undefined);
	}

	/* A live trace has become longer: new lanes, and new tiles at its end. */
	private async grow(duration: number): Promise<void> {
		const trace = await this.model.api.trace();
		const before = this.model.trace.duration_ns;
		this.model.trace = trace;
		this.model.view.setDuration(duration);
		const isOther = this.model.tree.update(trace.lanes);
		this.model.tree.layout();
		this.timeline.tiles.expire(before);
		this.timeline.rows.expire(before);
		if (isOther)
			this.model.emit('lanes');
		this.model.emit('trace');
		this.model.forgetInfo();
		this.gapMarks.forget();
		if (this.model.colour === 'cause')
			void this.readGaps();
		this.tabs.grown();
	}
}
