// SPDX-License-Identifier: Apache-2.0
// The minimap: how busy the streams are over the whole of both traces, and where the view is. Click or drag moves the view.
import { CELLS, levelOf } from '../core/tile';
import { TileCache } from '../data/tile-cache';
import { Model } from '../model';

export const OVERVIEW_HEIGHT = 34;
const MAX_LANES = 24;
const MAX_DEVICES = 64;

export class Overview {
	private readonly context: CanvasRenderingContext2D;
	private lanes: number[] = [];
	private kept: { busy: Float32Array; version: number; width: number; duration: number; offset: number } | undefined;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly tiles: TileCache) {
		this.context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
		this.chooseLanes();
		model.on('trace', () => this.chooseLanes());
		canvas.addEventListener('pointerdown', (event) => {
			canvas.setPointerCapture(event.pointerId);
			this.move(event);
		});
		canvas.addEventListener('pointermove', (event) => {
			if (canvas.hasPointerCapture(event.pointerId))
				this.move(event);
		});
	}

	private chooseLanes(): void {
		const all = [...this.model.tree.byId.values()].map((lane) => lane.info).filter((info) => info.rows > 0);
		const streams = all.filter((info) => info.kind === 'stream');
		// Those of many devices are too many: one of the device has all of its operations.
		const devices = streams.length > MAX_LANES ? all.filter((info) => info.kind === 'device') : [];
		const threads = all.filter((info) => info.kind === 'thread');
		// A trace without a device's work may have ranges alone.
		const chosen = devices.length ? devices : streams.length ? streams : threads.length ? threads : all.filter((info) => info.kind === 'ranges');
		this.lanes = chosen.sort((a, b) => b.rows - a.rows).slice(0, devices.length ? MAX_DEVICES : MAX_LANES).map((info) => info.id);
	}

	private move(event: PointerEvent): void {
		const { view } = this.model;
		const box = this.canvas.getBoundingClientRect();
		const at = (event.clientX - box.left) / Math.max(1, box.width) * view.duration;
		this.model.show(at - view.span / 2, at + view.span / 2);
	}

	/* The busiest stream's share at each pixel. The sum is kept until tiles arrive. */
	private shares(width: number): { busy: Float32Array } {
		const { view, offset } = this.model;
		const level = levelOf(view.duration / width);
		const cell = Math.pow(2, level);
		const { kept } = this;
		const fresh = kept && kept.version === this.tiles.version && kept.width === width && kept.duration === view.duration &&
			kept.offset === offset;
		const busy = fresh ? kept.busy : new Float32Array(Math.ceil(width) + 1);
		for (const lane of this.lanes) {
			const shift = this.model.offsetOf(lane);
			for (let i = 0; i * CELLS * cell < view.duration; i++) {
				const tile = this.tiles.want(0, level, lane, i);
				if (fresh || !tile || !tile.busy)
					continue;
				for (let j = 0; j < CELLS; j++) {
					const share = tile.words[4 * j + 2];
					if (!share && !tile.words[4 * j])
						continue;
					// A cell may be a little wider than a pixel.
					const at = ((i * CELLS + j) * cell + shift) / view.duration * width;
					const end = Math.min(busy.length, Math.max(Math.floor(at) + 1, Math.floor(at + cell / view.duration * width)));
					for (let x = Math.max(0, Math.floor(at)); x < end; x++)
						busy[x] = Math.max(busy[x], share / 1e6, 0.04);
				}
			}
		}
		if (!fresh)
			this.kept = { busy, version: this.tiles.version, width, duration: view.duration, offset };
		return { busy };
	}

	/* Called inside the frame of the painter, so that both want tiles of the same cache. */
	draw(width: number, ratio: number): void {
		const { context, model } = this;
		const { view } = model;
		const style = getComputedStyle(this.canvas);
		const colour = (name: string): string => style.getPropertyValue(name).trim();
		const height = OVERVIEW_HEIGHT;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = colour('--timeline');
		context.fillRect(0, 0, width, height);
		const { busy } = this.shares(width);
		context.fillStyle = colour('--busy');
		for (let x = 0; x < busy.length; x++) {
			if (busy[x]) {
				// The root makes lanes that are busy for a hundredth visible: the minimap is for finding places.
				const h = Math.max(3, Math.sqrt(busy[x]) * (height - 6));
				context.fillRect(x, height - 1 - h, 1, h);
			}
		}
		const x0 = Math.max(0, view.from / view.duration * width);
		const x1 = Math.min(width, view.to / view.duration * width);
		context.fillStyle = colour('--veil');
		context.fillRect(0, 0, x0, height);
		context.fillRect(x1, 0, width - x1, height);
		context.strokeStyle = colour('--accent');
		context.lineWidth = 2;
		context.strokeRect(x0 + 1, 1, Math.max(3, x1 - x0 - 2), height - 2);
		for (const mark of model.marks) {
			context.fillStyle = colour('--accent');
			context.fillRect(mark.ns / view.duration * width - 1, 0, 2, 8);
		}
		context.fillStyle = colour('--line');
		context.fillRect(0, height - 1, width, 1);
	}
}
