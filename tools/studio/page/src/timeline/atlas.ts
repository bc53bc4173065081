// SPDX-License-Identifier: Apache-2.0
// Tiles as pictures: one canvas with a slot for each tile that is on the screen. A tile becomes one drawImage() in each frame. A
// cell is a column: its height is the busy share, its colour is the busiest kind.
import { CELLS, Tile } from '../core/tile';

export const SLOT_HEIGHT = 16;
const COLUMNS = 8;
const ROWS = 128;
export const SLOTS = COLUMNS * ROWS;

interface Slot {
	index: number;
	used: number;
	version: number;
	colour: number;
}

export class Atlas {
	private readonly canvas = document.createElement('canvas');
	private readonly context: CanvasRenderingContext2D;
	private readonly slots = new Map<Tile, Slot>();
	private readonly free: number[] = [];
	private readonly image: ImageData;
	private readonly pixels: Uint32Array;
	private frame = 0;

	constructor() {
		this.canvas.width = COLUMNS * CELLS;
		this.canvas.height = ROWS * SLOT_HEIGHT;
		this.context = this.canvas.getContext('2d') as CanvasRenderingContext2D;
		this.image = this.context.createImageData(CELLS, SLOT_HEIGHT);
		this.pixels = new Uint32Array(this.image.data.buffer);
		for (let i = SLOTS - 1; i >= 0; i--)
			this.free.push(i);
	}

	beginFrame(): void {
		this.frame++;
	}

	/*
	 * Draws cells [first, first + n) of the tile. `colour` has the pixel of a key. `salt` and `version` identify the colours: if
	 * either changes, the tile is painted anew.
	 */
	draw(target: CanvasRenderingContext2D, tile: Tile, first: number, n: number, x: number, y: number, width: number,
		height: number, version: number, salt: number, colour: (key: number) => number): void {
		let slot = this.slots.get(tile);
		if (!slot) {
			slot = { index: this.take(), used: 0, version: -1, colour: 0 };
			this.slots.set(tile, slot);
		}
		slot.used = this.frame;
		const left = (slot.index % COLUMNS) * CELLS;
		const top = Math.floor(slot.index / COLUMNS) * SLOT_HEIGHT;
		if (slot.version !== version || slot.colour !== salt) {
			this.paint(tile, colour);
			this.context.putImageData(this.image, left, top);
			slot.version = version;
			slot.colour = salt;
		}
		target.drawImage(this.canvas, left + first, top, n, SLOT_HEIGHT, x, y, width, height);
	}

	private take(): number {
		const index = this.free.pop();
		if (index !== undefined)
			return index;
		let oldest: Tile | undefined;
		let used = Infinity;
		for (const [tile, slot] of this.slots) {
			if (slot.used < used) {
				used = slot.used;
				oldest = tile;
			}
		}
		const slot = this.slots.get(oldest as Tile) as Slot;
		this.slots.delete(oldest as Tile);
		return slot.index;
	}

	private paint(tile: Tile, colour: (key: number) => number): void {
		const { pixels } = this;
		const { words } = tile;
		pixels.fill(0);
		for (let i = 0; i < CELLS; i++) {
			const key = words[4 * i];
			const share = words[4 * i + 2];
			if (!share && !key && !words[4 * i + 1])
				continue;
			// A row is seen even if it is far shorter than a cell.
			const filled = Math.max(4, Math.round(share * SLOT_HEIGHT / 1000000));
			const value = colour(key);
			for (let y = SLOT_HEIGHT - filled; y < SLOT_HEIGHT; y++)
				pixels[y * CELLS + i] = value;
		}
	}
}
