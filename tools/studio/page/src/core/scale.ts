// SPDX-License-Identifier: Apache-2.0
// The scale of a counter's values: from the least finite one to the largest, or from or to 0. Infinite values are at its ends.

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];

/* At most four digits: "0.25", "12.3k". */
function valueText(value: number): string {
	const size = Math.abs(value);
	if (size && (size < 0.001 || size >= 1e18))
		return value.toExponential(2);
	const step = size < 1e4 ? 0 : Math.floor(Math.log10(size) / 3);
	return String(Number((value / Math.pow(1000, step)).toPrecision(4))) + PREFIXES[step];
}

export class Scale {
	private low = 0;
	private high = 0;

	add(value: number): void {
		if (!Number.isFinite(value))
			return;
		this.low = Math.min(this.low, value);
		this.high = Math.max(this.high, value);
	}

	/* The values at its ends, for people. */
	get ends(): readonly [string, string] {
		return [valueText(this.low), valueText(this.high)];
	}

	/* How far up the scale a value lies: 0 to 1. */
	part(value: number): number {
		if (!Number.isFinite(value))
			return value > 0 ? 1 : 0;
		// The difference of two finite numbers may be infinite; that of their halves is not.
		return (value / 2 - this.low / 2) / Math.max(1e-30, this.high / 2 - this.low / 2);
	}
}
