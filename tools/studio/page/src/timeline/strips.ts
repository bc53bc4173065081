// SPDX-License-Identifier: Apache-2.0
// Lanes that are drawn from tiles, as one picture of pixels in each frame: its cost depends on the size of the window alone. A column of
// a lane shows the cells under it: its height is the busy share, its colour is the busiest kind.
import { Scale } from '../core/scale';
import { CELLS, Tile, valuesOf } from '../core/tile';

const LEAST_HEIGHT = 0.25; // of the lane: rows that are far shorter than a cell are seen, too

/* The part of a lane's time that a tile covers: the tile itself, or a coarser one while the tile is on its way. */
export interface Found {
	tile: Tile;
	level: number;
	index: number;
}

export interface Place {
	y: number;       // in CSS pixels, as height
	height: number;
	from: number;    // time of the left edge
	nsPerPixel: number;
	end: number;     // no tiles from this time on
	level: number;
}

export class Strips {
	private readonly canvas = document.createElement('canvas');
	private readonly context: CanvasRenderingContext2D;
	private image = new ImageData(1, 1);
	private pixels = new Uint32Array(this.image.data.buffer);
	private ratio = 1;
	private used = false;

	constructor() {
		this.context = this.canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
	}

	/* Begins a picture of `width` times `height` CSS pixels. */
	begin(width: number, height: number, ratio: number): void {
		const w = Math.max(1, Math.round(width * ratio));
		const h = Math.max(1, Math.round(height * ratio));
		this.ratio = ratio;
		if (this.image.width !== w || this.image.height !== h) {
			this.canvas.width = w;
			this.canvas.height = h;
			this.image = new ImageData(w, h);
			this.pixels = new Uint32Array(this.image.data.buffer);
		} else if (this.used) {
			this.pixels.fill(0);
		}
		this.used = false;
	}

	/* `find` has the tile of an index at the place's level; `colour` has the pixel of a key. */
	lane(place: Place, find: (index: number) => Found | undefined, colour: (key: number) => number): void {
		const { image, pixels, ratio } = this;
		const top = Math.max(0, Math.round(place.y * ratio));
		const bottom = Math.min(image.height, Math.round((place.y + place.height) * ratio));
		const full = Math.round(place.height * ratio);
		const nsPerPixel = place.nsPerPixel / ratio;
		const size = CELLS * Math.pow(2, place.level);
		const last = Math.min(place.end, place.from + image.width * nsPerPixel);
		if (bottom <= top)
			return;
		for (let index = Math.max(0, Math.floor(place.from / size)); index * size < last; index++) {
			const found = find(index);
			if (!found || (!found.tile.busy && !found.tile.count))
				continue;
			const { words } = found.tile;
			const cell = Math.pow(2, found.level);
			const base = found.index * CELLS;
			const x1 = Math.min(image.width, Math.ceil((Math.min(last, (index + 1) * size) - place.from) / nsPerPixel));
			let key = 0;
			let value = 0;
			for (let x = Math.max(0, Math.ceil((index * size - place.from) / nsPerPixel)); x < x1; x++) {
				const ns = place.from + x * nsPerPixel;
				const first = Math.max(0, Math.floor(ns / cell) - base);
				const end = Math.min(CELLS - 1, Math.max(first, Math.ceil((ns + nsPerPixel) / cell) - 1 - base));
				// The busiest of the cells under the pixel.
				let at = -1;
				let share = -1;
				for (let i = first; i <= end; i++) {
					if (words[4 * i + 2] > share && (words[4 * i] || words[4 * i + 1])) {
						share = words[4 * i + 2];
						at = i;
					}
				}
				if (at < 0)
					continue;
				if (words[4 * at] !== key || !value) {
					key = words[4 * at];
					value = colour(key);
				}
				const filled = Math.round(full * Math.max(LEAST_HEIGHT, share / 1e6));
				const lowest = Math.round((place.y + place.height) * ratio);
				for (let y = Math.max(top, lowest - filled); y < bottom; y++)
					pixels[y * image.width + x] = value;
				this.used = true;
			}
		}
	}

	/*
	 * A counter: each column is full up to the least value of the cells under it, and soft from there to the largest one. Where no cell
	 * has a value, the last one holds. The scale is that of the values in view;
	 * it is returned.
	 */
	counter(place: Place, find: (index: number) => Found | undefined, full: number, soft: number): Scale {
		const { image, pixels, ratio } = this;
		const top = Math.round(place.y * ratio);
		const height = Math.round(place.height * ratio);
		const ranges = this.ranges(place, find);
		const scale = new Scale();
		for (const range of ranges)
			range?.forEach((value) => scale.add(value));
		const row = (value: number): number => top + height - Math.max(1, Math.round(scale.part(value) * height));
		ranges.forEach((range, x) => {
			if (!range)
				return;
			const [upper, lower] = [row(range[1]), row(range[0])];
			for (let y = Math.max(0, upper); y < Math.min(image.height, top + height); y++)
				pixels[y * image.width + x] = y < lower ? soft : full;
			this.used = true;
		});
		return scale;
	}

	/* The least and the largest value under each column. */
	private ranges(place: Place, find: (index: number) => Found | undefined): Array<readonly [number, number] | undefined> {
		const ranges: Array<readonly [number, number] | undefined> = [];
		const nsPerPixel = place.nsPerPixel / this.ratio;
		const size = CELLS * Math.pow(2, place.level);
		let last: readonly [number, number] | undefined;
		let [known, found] = [-1, undefined as Found | undefined];
		for (let x = 0; x < this.image.width; x++) {
			const from = place.from + x * nsPerPixel;
			const to = Math.min(place.end, from + nsPerPixel);
			let range: readonly [number, number] | undefined;
			for (let index = Math.max(0, Math.floor(from / size)); index * size < to; index++) {
				if (index !== known)
					[known, found] = [index, find(index)];
				if (!found)
					continue;
				const cell = Math.pow(2, found.level);
				const first = Math.max(0, Math.floor(Math.max(from, index * size) / cell) - found.index * CELLS);
				const end = Math.ceil(Math.min(to, (index + 1) * size) / cell) - found.index * CELLS;
				for (let i = first; i < Math.min(CELLS, end); i++) {
					const values = valuesOf(found.tile, i);
					if (values)
						range = range ? [Math.min(range[0], values[0]), Math.max(range[1], values[1])] : values;
				}
			}
			last = range || last;
			ranges.push(from < place.end && to > 0 ? last : undefined);
		}
		return ranges;
	}

	draw(target: CanvasRenderingContext2D, width: number, height: number): void {
		if (!this.used)
			return;
		this.context.putImageData(this.image, 0, 0);
		target.drawImage(this.canvas, 0, 0, width, height);
	}
}
