// SPDX-License-Identifier: Apache-2.0
// The part of the trace that the timeline shows: from time to pixels and back, zoom and pan within bounds.

const LEAST_NS_PER_PIXEL = 0.01;
const MARGIN = 0.02; // empty space beyond both ends of the trace, in parts of the view

export class View {
	from = 0;
	nsPerPixel = 1;
	width = 1;
	duration = 1;

	get to(): number {
		return this.from + this.width * this.nsPerPixel;
	}

	get span(): number {
		return this.width * this.nsPerPixel;
	}

	x(ns: number): number {
		return (ns - this.from) / this.nsPerPixel;
	}

	time(x: number): number {
		return this.from + x * this.nsPerPixel;
	}

	setDuration(duration: number): void {
		this.duration = Math.max(1, duration);
	}

	resize(width: number): void {
		const span = this.span;
		const had = this.width > 1;
		this.width = Math.max(1, width);
		if (had)
			this.nsPerPixel = span / this.width;
		this.clamp();
	}

	show(from: number, to: number): void {
		this.nsPerPixel = Math.max(LEAST_NS_PER_PIXEL, (to - from) / this.width);
		this.from = from;
		this.clamp();
	}

	showAll(): void {
		this.show(-this.duration * MARGIN, this.duration * (1 + MARGIN));
	}

	/* Zooms by a factor; the time at pixel `x` stays there. */
	zoom(factor: number, x: number): void {
		const at = this.time(x);
		const most = this.duration * (1 + 2 * MARGIN) / this.width;
		this.nsPerPixel = Math.min(Math.max(most, LEAST_NS_PER_PIXEL), Math.max(LEAST_NS_PER_PIXEL, this.nsPerPixel * factor));
		this.from = at - x * this.nsPerPixel;
		this.clamp();
	}

	pan(pixels: number): void {
		this.from += pixels * this.nsPerPixel;
		this.clamp();
	}

	/* Moves the view so that [from, to] is in it; zooms if the span is tiny or larger than the view. */
	reveal(from: number, to: number): void {
		const length = Math.max(to - from, 1);
		if (length > this.span * 0.8 || length < this.nsPerPixel * 8)
			this.show(from - length * 2, to + length * 2);
		else if (from < this.from || to > this.to)
			this.show((from + to - this.span) / 2, (from + to + this.span) / 2);
	}

	private clamp(): void {
		const most = this.duration * (1 + 2 * MARGIN) / this.width;
		this.nsPerPixel = Math.max(LEAST_NS_PER_PIXEL, Math.min(this.nsPerPixel, Math.max(most, LEAST_NS_PER_PIXEL)));
		const least = -this.duration * MARGIN - this.span * 0.25;
		const last = this.duration * (1 + MARGIN) - this.span * 0.75;
		this.from = Math.max(least, Math.min(this.from, Math.max(least, last)));
	}
}
