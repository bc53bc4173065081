// SPDX-License-Identifier: Apache-2.0
// The timeline: canvas, headers, ruler and minimap, their frames, and the pointer. Keys come from main.ts.
import { byId, el } from '../core/dom';
import { RowCache } from '../data/row-cache';
import { TileCache } from '../data/tile-cache';
import { Model, Selection } from '../model';
import { Headers } from './headers';
import { Lane } from './lanes';
import { Overview, OVERVIEW_HEIGHT } from './overview';
import { Hit, Painter } from './painter';
import { Ruler, RULER_HEIGHT } from './ruler';

const WHEEL = 0.0022;      // zoom by a wheel step of 100: 1.25
const CLICK_PIXELS = 4;
const KEY_ZOOM = 2.6;      // factor per second
const KEY_PAN = 1.1;       // views per second

interface Drag {
	pointer: number;
	mode: 'pan' | 'span';
	x: number;
	y: number;
	lastX: number;
	lastY: number;
	moved: boolean;
}

export class Timeline {
	readonly tiles: TileCache;
	readonly rows: RowCache;
	private readonly canvas = byId<HTMLCanvasElement>('canvas');
	private readonly area = byId('area');
	private readonly scrollbar = byId('scroll');
	private readonly scrolled = byId('scrolled');
	private readonly tip = byId('tip');
	private readonly painter: Painter;
	private readonly ruler: Ruler;
	private readonly overview: Overview;
	private readonly headers: Headers;
	private dirty = true;
	private drawn = 0;          // time of the last frame
	private readonly held = new Map<string, number>();
	private drag: Drag | undefined;
	private shown: number | undefined; // the lane that was scrolled to
	private readonly touches = new Map<number, { x: number; y: number }>();
	private pinch = 0;
	private readonly canvases: HTMLCanvasElement[];

	constructor(private readonly model: Model, failed: (error: unknown) => void,
		private readonly clicked: (hit: Hit) => void) {
		const changed = (): void => this.invalidate();
		this.tiles = new TileCache(model.api, changed, failed);
		this.rows = new RowCache(model.api, changed, failed, (lane, depth) => {
			if (model.tree.deepen(lane, depth))
				model.emit('lanes');
		});
		const rulerCanvas = byId<HTMLCanvasElement>('ruler');
		const overviewCanvas = byId<HTMLCanvasElement>('overview');
		this.canvases = [this.canvas, rulerCanvas, overviewCanvas];
		this.painter = new Painter(this.canvas, model, this.tiles, this.rows);
		this.ruler = new Ruler(rulerCanvas, model);
		this.overview = new Overview(overviewCanvas, model, this.tiles);
		this.headers = new Headers(byId('headers'), model, (lane) => this.focusLane(lane));
		for (const change of ['view', 'selection', 'span', 'cursor', 'lanes', 'marks', 'overlay', 'colour', 'trace', 'names'] as const)
			model.on(change, changed);
		model.on('lanes', () => this.layout());
		model.on('trace', () => this.layout());
		new ResizeObserver(() => {
			this.layout();
			const lane = this.shown === undefined ? undefined : this.model.tree.shown(this.shown);
			if (lane)
				this.scrollTo(lane);
		}).observe(this.area);
		this.scrollbar.addEventListener('pointerdown', () => this.shown = undefined);
		this.scrollbar.addEventListener('scroll', changed);
		this.listen(rulerCanvas);
		this.layout();
	}

	invalidate(): void {
		if (this.dirty)
			return;
		this.dirty = true;
		requestAnimationFrame((now) => this.frame(now));
	}

	/* The first picture asks for its tiles at once, not in the browser's next frame. */
	start(): void {
		this.frame(performance.now());
	}

	/* True if the picture is complete: nothing is missing and nothing is asked for. */
	idle(): boolean {
		return !this.dirty && this.tiles.idle() && this.rows.idle();
	}

	get width(): number {
		return this.model.view.width;
	}

	layout(): void {
		const ratio = window.devicePixelRatio || 1;
		const width = Math.max(50, this.area.clientWidth);
		const height = Math.max(20, this.area.clientHeight);
		const heights = [height, RULER_HEIGHT, OVERVIEW_HEIGHT];
		this.canvases.forEach((canvas, i) => {
			const canvasWidth = i === 2 ? Math.max(50, canvas.parentElement?.clientWidth || width) : width;
			canvas.width = Math.round(canvasWidth * ratio);
			canvas.height = Math.round(heights[i] * ratio);
			canvas.style.width = canvasWidth + 'px';
			canvas.style.height = heights[i] + 'px';
		});
		this.model.view.resize(width);
		this.scrolled.style.height = this.model.tree.height + 20 + 'px';
		this.invalidate();
	}

	private frame(now: number): void {
		const passed = Math.min(64, this.drawn ? now - this.drawn : 16);
		this.drawn = now;
		this.dirty = false;
		this.moveByKeys(passed);
		const ratio = window.devicePixelRatio || 1;
		const scroll = this.scrollbar.scrollTop;
		// The overview wants its tiles first: they are few, and each view can be drawn from them.
		this.painter.draw(scroll, this.model.view.width, this.area.clientHeight, ratio,
			() => this.overview.draw(this.canvases[2].width / ratio, ratio));
		this.ruler.draw(this.model.view.width, ratio);
		this.headers.draw(scroll, this.area.clientHeight);
		if (this.held.size)
			this.invalidate();
		else
			this.drawn = 0;
	}

	hold(action: string, down: boolean): void {
		if (down)
			this.held.set(action, 1);
		else
			this.held.delete(action);
		this.invalidate();
	}

	releaseKeys(): void {
		this.held.clear();
	}

	private moveByKeys(ms: number): void {
		if (!this.held.size)
			return;
		const { view } = this.model;
		const x = this.model.cursor !== undefined && this.model.cursor > view.from && this.model.cursor < view.to ?
			view.x(this.model.cursor) : view.width / 2;
		const factor = Math.pow(KEY_ZOOM, ms / 300);
		if (this.held.has('zoom-in'))
			view.zoom(1 / factor, x);
		if (this.held.has('zoom-out'))
			view.zoom(factor, x);
		if (this.held.has('pan-left'))
			view.pan(-view.width * KEY_PAN * ms / 1000);
		if (this.held.has('pan-right'))
			view.pan(view.width * KEY_PAN * ms / 1000);
		this.model.emit('view');
	}

	focusLane(lane: Lane): void {
		this.model.focusedLane = lane.info.id;
		this.scrollTo(lane);
		this.model.emit('view');
	}

	moveLane(step: number): Lane | undefined {
		const list = this.model.tree.visible.filter((lane) => !lane.layer);
		const now = list.findIndex((lane) => lane.info.id === this.model.focusedLane);
		const next = list[Math.max(0, Math.min(list.length - 1, now < 0 ? 0 : now + step))];
		if (next)
			this.focusLane(next);
		return next;
	}

	/* The process of the focused lane alone, or all again. */
	isolateFocused(): void {
		const id = this.model.focusedLane;
		const lane = id === undefined ? this.model.tree.visible[0] : this.model.tree.byId.get(id);
		if (lane)
			this.headers.isolate(lane);
	}

	foldFocused(): void {
		const lane = this.model.focusedLane === undefined ? undefined : this.model.tree.byId.get(this.model.focusedLane);
		if (lane)
			this.headers.fold(lane);
	}

	/* Scrolls to a lane. It stays in sight, also in a lower window, until the user scrolls. */
	scrollTo(lane: Lane): void {
		this.shown = lane.info.id;
		const height = this.area.clientHeight;
		const top = this.scrollbar.scrollTop;
		if (lane.y < top + 4)
			this.scrollbar.scrollTop = lane.y - 4;
		else if (lane.y + lane.height > top + height)
			this.scrollbar.scrollTop = lane.y + lane.height - height + 8;
	}

	reveal(selection: Selection): void {
		const offset = this.model.offsetOf(selection.lane);
		this.model.reveal(selection.start + offset, selection.end + offset);
		const lane = this.model.tree.shown(selection.lane);
		if (lane)
			this.scrollTo(lane);
	}

	private place(event: MouseEvent): { x: number; y: number } {
		const box = this.canvas.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	private listen(rulerCanvas: HTMLCanvasElement): void {
		const { area } = this;
		area.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
		byId('headers').addEventListener('wheel', (event) => {
			event.preventDefault();
			this.shown = undefined;
			this.scrollbar.scrollTop += event.deltaY;
		}, { passive: false });
		area.addEventListener('pointerdown', (event) => this.down(event, event.shiftKey ? 'span' : 'pan'));
		rulerCanvas.addEventListener('pointerdown', (event) => this.down(event, 'span'));
		for (const element of [area, rulerCanvas]) {
			element.addEventListener('pointermove', (event) => this.moved(event));
			element.addEventListener('pointerup', (event) => this.up(event));
			element.addEventListener('pointercancel', (event) => this.cancel(event));
		}
		area.addEventListener('pointerleave', () => this.hideTip());
		area.addEventListener('dblclick', (event) => {
			const { x, y } = this.place(event);
			const hit = this.painter.hit(x, y);
			if (hit && hit.row) {
				const length = Math.max(1, hit.row.end - hit.row.start);
				const start = hit.row.start + this.model.offsetOf(hit.row.lane);
				this.model.show(start - length * 0.5, start + length * 1.5);
			}
		});
		document.addEventListener('keydown', () => this.canvas.classList.remove('pointed'), true);
		window.addEventListener('blur', () => this.releaseKeys());
	}

	private wheel(event: WheelEvent): void {
		event.preventDefault();
		const { view } = this.model;
		const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
		const dx = event.deltaX * unit;
		const dy = event.deltaY * unit;
		if (event.altKey) {
			this.shown = undefined;
			this.scrollbar.scrollTop += dy;
		} else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
			view.pan(Math.abs(dx) > Math.abs(dy) ? dx : dy);
		} else {
			// A pinch of a touchpad comes as a wheel with the control key, in small steps.
			const speed = event.ctrlKey ? WHEEL * 4 : WHEEL;
			view.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * speed), this.place(event).x);
		}
		this.hideTip();
		this.model.emit('view');
	}

	private down(event: PointerEvent, mode: 'pan' | 'span'): void {
		if (event.button !== 0 && event.button !== 1)
			return;
		// A click needs no ring around the timeline; the first key shows it.
		this.canvas.classList.add('pointed');
		this.canvas.focus({ preventScroll: true });
		(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
		const { x, y } = this.place(event);
		this.touches.set(event.pointerId, { x, y });
		if (this.touches.size === 2) {
			this.pinch = this.touchDistance();
			this.drag = undefined;
			return;
		}
		this.drag = { pointer: event.pointerId, mode, x, y, lastX: x, lastY: y, moved: false };
		this.hideTip();
	}

	private touchDistance(): number {
		const [a, b] = [...this.touches.values()];
		return Math.max(10, Math.abs(a.x - b.x));
	}

	private moved(event: PointerEvent): void {
		const { x, y } = this.place(event);
		if (this.touches.has(event.pointerId))
			this.touches.set(event.pointerId, { x, y });
		if (this.touches.size === 2 && this.pinch) {
			const distance = this.touchDistance();
			const [a, b] = [...this.touches.values()];
			this.model.view.zoom(this.pinch / distance, (a.x + b.x) / 2);
			this.pinch = distance;
			this.model.emit('view');
			return;
		}
		const { drag } = this;
		if (!drag || drag.pointer !== event.pointerId) {
			if (event.pointerType !== 'touch' && event.currentTarget === this.area)
				this.hover(x, y, event);
			return;
		}
		if (!drag.moved && Math.abs(x - drag.x) + Math.abs(y - drag.y) < CLICK_PIXELS)
			return;
		drag.moved = true;
		if (drag.mode === 'pan') {
			this.model.view.pan(drag.lastX - x);
			this.scrollbar.scrollTop += drag.lastY - y;
			this.area.classList.add('dragging');
			this.model.emit('view');
		} else {
			const { view } = this.model;
			const clamp = (ns: number): number => Math.max(0, Math.min(view.duration, Math.round(ns)));
			const a = clamp(view.time(drag.x));
			const b = clamp(view.time(x));
			this.model.span = a < b ? [a, b] : [b, a];
			this.model.emit('view');
		}
		drag.lastX = x;
		drag.lastY = y;
	}

	private up(event: PointerEvent): void {
		this.touches.delete(event.pointerId);
		if (this.touches.size < 2)
			this.pinch = 0;
		const { drag } = this;
		if (!drag || drag.pointer !== event.pointerId)
			return;
		this.drag = undefined;
		this.area.classList.remove('dragging');
		const { x, y } = this.place(event);
		if (drag.moved) {
			if (drag.mode === 'span')
				this.model.setSpan(this.model.span);
			return;
		}
		this.model.setCursor(this.model.view.time(x));
		const hit = event.currentTarget === this.area ? this.painter.hit(x, y) : undefined;
		if (hit) {
			this.model.focusedLane = hit.lane.info.id;
			this.clicked(hit);
		}
	}

	private cancel(event: PointerEvent): void {
		this.touches.delete(event.pointerId);
		this.pinch = 0;
		this.drag = undefined;
	}

	private hover(x: number, y: number, event: PointerEvent): void {
		const hit = this.painter.hit(x, y);
		const lines = hit ? this.painter.describe(hit) : [];
		this.area.classList.toggle('over-row', !!(hit && hit.row));
		if (!lines.length) {
			this.hideTip();
			return;
		}
		this.tip.replaceChildren(...lines.map((line, i) => el('div', { class: i ? 'dim' : '' }, line)));
		this.tip.hidden = false;
		const width = this.tip.offsetWidth;
		const height = this.tip.offsetHeight;
		const left = event.clientX + 14 + width > window.innerWidth ? event.clientX - width - 10 : event.clientX + 14;
		const top = event.clientY + 16 + height > window.innerHeight ? event.clientY - height - 8 : event.clientY + 16;
		this.tip.style.left = Math.max(2, left) + 'px';
		this.tip.style.top = Math.max(2, top) + 'px';
	}

	private hideTip(): void {
		this.tip.hidden = true;
	}
}
