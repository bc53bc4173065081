// SPDX-License-Identifier: Apache-2.0
// Colours of rows: one palette for dark and light, made in OKLCH so that their lightness is alike. Black text on each has a contrast
// of at least 5 to 1.

export interface Rgb {
	r: number;
	g: number;
	b: number;
}

function gamma(value: number): number {
	const v = value <= 0.0031308 ? 12.92 * value : 1.055 * Math.pow(value, 1 / 2.4) - 0.055;
	return Math.round(255 * Math.min(1, Math.max(0, v)));
}

/* OKLCH (hue in degrees) to sRGB, as in CSS Color 4. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
	const a = chroma * Math.cos(hue * Math.PI / 180);
	const b = chroma * Math.sin(hue * Math.PI / 180);
	const l = Math.pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
	const m = Math.pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
	const s = Math.pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
	return {
		r: gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
		g: gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
		b: gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
	};
}

/* Hues with the lightness at which they are clear: yellow is light, blue is dark. */
const HUES: ReadonlyArray<readonly [number, number, number]> = [
	[0.64, 0.13, 255], [0.74, 0.13, 60], [0.70, 0.13, 150], [0.66, 0.15, 20], [0.66, 0.13, 305], [0.72, 0.10, 200],
	[0.78, 0.13, 90], [0.66, 0.14, 350], [0.66, 0.11, 275], [0.72, 0.12, 175], [0.74, 0.12, 40], [0.76, 0.13, 125],
];
const SHADES = [0, 0.05, -0.02];

function makePalette(): Rgb[] {
	const colours: Rgb[] = [];
	for (const shade of SHADES) {
		for (const [lightness, chroma, hue] of HUES)
			colours.push(oklch(lightness + shade, chroma - Math.abs(shade), hue + shade * 200));
	}
	return colours;
}

export const PALETTE: ReadonlyArray<Rgb> = makePalette();
export const GREY: Rgb = oklch(0.66, 0.01, 250);

/* A number that is not 0 to an entry of the palette, always the same one. */
export function paletteIndex(value: number): number {
	// Neighbours in value are far apart in hue.
	const mixed = (Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) ^ (value >>> 7)) >>> 0;
	return Math.imul(mixed, 0x9e3779b1) >>> 0;
}

export function colourOf(value: number): Rgb {
	return value === 0 ? GREY : PALETTE[paletteIndex(value) % PALETTE.length];
}

/* FNV-1a of a text. */
export function hashText(text: string): number {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length && i < 1000; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return (hash >>> 0) || 1;
}

/* The colour, nearly grey: for what stays in the background. */
export function muted(colour: Rgb): Rgb {
	const mix = (a: number, b: number): number => Math.round(0.25 * a + 0.75 * b);
	return { r: mix(colour.r, GREY.r), g: mix(colour.g, GREY.g), b: mix(colour.b, GREY.b) };
}

export function css(colour: Rgb): string {
	return 'rgb(' + colour.r + ',' + colour.g + ',' + colour.b + ')';
}

/* As a pixel of ImageData on a little-endian machine; `opacity` is at most 255. */
export function pixel(colour: Rgb, opacity = 0xff): number {
	return ((opacity << 24) | (colour.b << 16) | (colour.g << 8) | colour.r) >>> 0;
}

function linear(value: number): number {
	const v = value / 255;
	return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
}

/* Contrast of WCAG 2: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
	const light = (c: Rgb): number => 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
	const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

/* Colours of causes, parts and kinds of rows: fixed, so that a legend can be learned. */
const FIXED: { readonly [name: string]: Rgb } = {
	kernel: oklch(0.66, 0.125, 250), compute: oklch(0.66, 0.125, 250),
	memcpy: oklch(0.70, 0.13, 60), copy: oklch(0.70, 0.13, 60),
	memset: oklch(0.70, 0.10, 100), graph: oklch(0.66, 0.11, 200),
	api: oklch(0.66, 0.10, 300), call: oklch(0.66, 0.10, 300),
	sync: oklch(0.64, 0.14, 20), wait: oklch(0.64, 0.14, 20), dependency: oklch(0.64, 0.14, 20),
	range: oklch(0.68, 0.11, 150), host: oklch(0.68, 0.11, 150), running: oklch(0.68, 0.11, 150),
	host_gap: oklch(0.68, 0.11, 150), launch_latency: oklch(0.70, 0.10, 120),
	off_cpu: oklch(0.62, 0.13, 340), page_fault: oklch(0.66, 0.13, 330), syscall: oklch(0.66, 0.10, 280),
	dispatch: oklch(0.70, 0.10, 120), device: oklch(0.66, 0.10, 220), block_io: oklch(0.64, 0.12, 45),
	reclaim: oklch(0.64, 0.13, 0), pressure: oklch(0.64, 0.13, 0), sample: oklch(0.66, 0.09, 170),
};

export function fixedColour(name: string): Rgb {
	return FIXED[name] || GREY;
}
