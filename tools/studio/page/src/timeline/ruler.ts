// SPDX-License-Identifier: Apache-2.0
// The ruler of times over the lanes: ticks, the span's length, bookmarks and the cursor.
import { formatDuration, formatInstant, roundStep, ticks } from '../core/time';
import { elide } from '../core/names';
import { Model } from '../model';

export const RULER_HEIGHT = 30;

export class Ruler {
	private readonly context: CanvasRenderingContext2D;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly model: Model) {
		this.context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
	}

	draw(width: number, ratio: number): void {
		const { context, model } = this;
		const { view } = model;
		const style = getComputedStyle(this.canvas);
		const colour = (name: string): string => style.getPropertyValue(name).trim();
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = colour('--panel');
		context.fillRect(0, 0, width, RULER_HEIGHT);
		context.font = '11px ' + style.fontFamily;
		context.textBaseline = 'middle';
		const step = roundStep(view.nsPerPixel * 110);
		for (const ns of ticks(view.from - step, view.to, step)) {
			const x = Math.round(view.x(ns));
			context.fillStyle = colour('--grid');
			context.fillRect(x, RULER_HEIGHT - 8, 1, 8);
			context.fillStyle = colour('--dim');
			const text = formatInstant(ns, step);
			if (ns >= 0 && x >= -4 && x + 4 + context.measureText(text).width <= width)
				context.fillText(text, x + 4, RULER_HEIGHT - 7);
		}
		if (model.span)
			this.span(model.span, colour('--accent'));
		for (const mark of model.marks) {
			const x = Math.round(view.x(mark.ns));
			if (x < -100 || x > width)
				continue;
			context.fillStyle = colour('--accent');
			context.beginPath();
			context.moveTo(x - 4, 0);
			context.lineTo(x + 4, 0);
			context.lineTo(x, 7);
			context.fill();
			// The line of the span passes behind the label.
			const label = elide(mark.label, 24);
			context.fillStyle = colour('--panel');
			context.fillRect(x + 5, 0, context.measureText(label).width + 3, 14);
			context.fillStyle = colour('--text');
			context.fillText(label, x + 6, 7);
		}
		if (model.span)
			this.length(model.span, width, colour('--accent'), colour('--on-accent'));
		if (model.cursor !== undefined) {
			const x = Math.round(view.x(model.cursor));
			context.fillStyle = colour('--selected');
			context.fillRect(x, 0, 1, RULER_HEIGHT);
			context.beginPath();
			context.moveTo(x - 4, RULER_HEIGHT);
			context.lineTo(x + 5, RULER_HEIGHT);
			context.lineTo(x + 0.5, RULER_HEIGHT - 6);
			context.fill();
		}
		context.fillStyle = colour('--line');
		context.fillRect(0, RULER_HEIGHT - 1, width, 1);
	}

	private span(span: [number, number], accent: string): void {
		const { context, model } = this;
		const x0 = model.view.x(span[0]);
		context.fillStyle = accent;
		context.fillRect(x0, 7, Math.max(1, model.view.x(span[1]) - x0), 3);
	}

	private length(span: [number, number], width: number, accent: string, text: string): void {
		const { context, model } = this;
		const x0 = model.view.x(span[0]);
		const x1 = model.view.x(span[1]);
		const label = formatDuration(span[1] - span[0]);
		const size = context.measureText(label).width + 10;
		context.fillStyle = accent;
		const middle = Math.max(size / 2, Math.min(width - size / 2, (Math.max(0, x0) + Math.min(width, x1)) / 2));
		if (x1 < 0 || x0 > width)
			return;
		context.fillRect(middle - size / 2, 1, size, 15);
		context.fillStyle = text;
		context.fillText(label, middle - size / 2 + 5, 9);
	}
}
