// SPDX-License-Identifier: Apache-2.0
// JSON with 64-bit integers. An integer that a number cannot hold becomes a string of its digits.

export type Integer = number | string;

const LONG = /\d{16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function parseJson(text: string): unknown {
	if (!LONG.test(text))
		return JSON.parse(text);
	return JSON.parse(text.replace(TOKEN, (token) => {
		if (token.length < 16 || token[0] === '"' || /[.eE]/.test(token) || Number.isSafeInteger(Number(token)))
			return token;
		return '"' + token + '"';
	}));
}

/* Parses one value per line; empty lines are skipped. */
export function parseLines(text: string): unknown[] {
	return text.split('\n').filter((line) => line.trim() !== '').map(parseJson);
}

/* The difference of two integers, exact if it is a safe integer. */
export function subtract(a: Integer, b: Integer): number {
	if (typeof a === 'number' && typeof b === 'number')
		return a - b;
	return Number(BigInt(a) - BigInt(b));
}

export function add(a: Integer, b: Integer): Integer {
	if (typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(a + b))
		return a + b;
	return (BigInt(a) + BigInt(b)).toString();
}
