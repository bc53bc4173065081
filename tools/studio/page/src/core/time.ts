// SPDX-License-Identifier: Apache-2.0
// Durations, instants and amounts as text, and back. Times are nanoseconds.

const UNITS: ReadonlyArray<readonly [string, number]> = [
	['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1],
];

export const THIN = '\u202f';

/* A whole number with groups of three digits. */
export function formatCount(value: number): string {
	return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

function digits(value: number): string {
	const size = Math.abs(value);
	return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

/* Four significant digits and a unit: "2.874 ms". */
export function formatDuration(ns: number): string {
	if (!Number.isFinite(ns))
		return '?';
	const size = Math.abs(ns);
	if (size < 1000)
		return Math.round(ns * 10) / 10 + ' ns';
	for (const [unit, factor] of UNITS) {
		// 999.96 ms is 1.000 s.
		if (size >= factor * 0.99995)
			return digits(ns / factor) + ' ' + unit;
	}
	return ns + ' ns';
}

/* Seconds with the digits that a step of `step` ns needs: "1.200 340 s". */
export function formatInstant(ns: number, step = 1): string {
	const sign = ns < 0 ? '-' : '';
	const whole = Math.round(Math.abs(ns));
	const seconds = Math.floor(whole / 1e9);
	let n = 9 - Math.floor(Math.log10(Math.max(1, step)) + 1e-9);
	n = Math.min(9, Math.max(0, n));
	if (n === 0)
		return sign + formatCount(Math.round(whole / 1e9)) + ' s';
	let places = Math.ceil(n / 3) * 3;
	if (places > n && n < 3)
		places = n;
	const fraction = (whole - seconds * 1e9).toString().padStart(9, '0').slice(0, places);
	return sign + formatCount(seconds) + '.' + fraction.replace(/(\d{3})(?=\d)/g, '$1' + THIN) + ' s';
}

export function formatBytes(bytes: number): string {
	if (bytes < 1024)
		return bytes + ' B';
	let value = bytes;
	for (const unit of ['KiB', 'MiB', 'GiB', 'TiB']) {
		value /= 1024;
		if (value < 1023.995 || unit === 'TiB')
			return (value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3)) +
			       ' ' + unit;
	}
	return bytes + ' B';
}

export function formatShare(share: number): string {
	const percent = share * 100;
	if (percent > 0 && percent < 0.1)
		return '<0.1 %';
	return percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : 1) + ' %';
}

const TIME = /^\s*@?([+-]?\d[\d\s\u202f,_]*(?:\.[\d\s\u202f_]*)?)\s*(ns|us|µs|μs|ms|s|m|min)?\s*$/i;

/* Reads "1.2s", "12.5 ms", "1500" (ns). undefined: not a time. */
export function parseTime(text: string): number | undefined {
	const match = TIME.exec(text);
	if (!match)
		return undefined;
	const value = Number(match[1].replace(/[\s\u202f,_]/g, ''));
	const unit = (match[2] || 'ns').toLowerCase();
	const factor = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10 }[unit];
	if (factor === undefined || !Number.isFinite(value))
		return undefined;
	return Math.round(value * factor);
}

/* The smallest of 1, 2 and 5 times a power of ten, at least `least`. */
export function roundStep(least: number): number {
	const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-3))));
	for (const factor of [1, 2, 5, 10]) {
		if (power * factor >= least * 0.999999)
			return Math.max(1, power * factor);
	}
	return Math.max(1, power * 10);
}

/* Instants of a ruler: multiples of `step` in [from, to]. */
export function ticks(from: number, to: number, step: number): number[] {
	const result: number[] = [];
	for (let i = Math.ceil(from / step); i * step <= to && result.length < 1000; i++)
		result.push(i * step);
	return result;
}
