// SPDX-License-Identifier: Apache-2.0
// The binary answer to a request for tiles. A cell of level L is 2^L ns wide; a tile has 256 cells.

export const CELLS = 256;
export const MAX_LEVEL = 50;
const HEADER = 32;
const WORDS = 4; // key, count, share, key_share; of a counter: key, count, least and largest value as floats

export interface Tile {
	words: Uint32Array; // 4 words a cell
	count: number;      // rows that start in the tile
	busy: boolean;      // any cell has a share
	exact: boolean;
}

export interface LaneTiles {
	lane: number;
	tiles: Tile[];
}

export interface TileAnswer {
	level: number;
	first: number;
	lanes: LaneTiles[];
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function makeTile(view: DataView, offset: number, exact: boolean): Tile {
	// slice() copies: the answer's buffer does not stay.
	const words = new Uint32Array(view.buffer.slice(offset, offset + CELLS * WORDS * 4));
	let count = 0;
	let busy = 0;
	if (!LITTLE) {
		for (let i = 0; i < CELLS * WORDS; i++)
			words[i] = view.getUint32(offset + 4 * i, true);
	}
	for (let i = 0; i < CELLS * WORDS; i += WORDS) {
		count += words[i + 1];
		busy |= words[i + 2] | words[i];
	}
	return { words, count, busy: busy !== 0, exact };
}

/* The least and the largest value of a cell of a counter that has rows; undefined: unknown. */
export function valuesOf(tile: Tile, cell: number): [number, number] | undefined {
	const floats = new Float32Array(tile.words.buffer);
	const [least, largest] = [floats[WORDS * cell + 2], floats[WORDS * cell + 3]];
	return tile.words[WORDS * cell + 1] && least <= largest ? [least, largest] : undefined;
}

/* Throws an Error if the bytes are not an answer. */
export function decodeTiles(buffer: ArrayBuffer): TileAnswer {
	const view = new DataView(buffer);
	if (buffer.byteLength < HEADER || view.getUint32(0, true) !== 0x31545354)
		throw new Error('tiles: not an answer');
	const level = view.getUint32(4, true);
	const first = Number(view.getBigUint64(8, true));
	const n = view.getUint32(16, true);
	const nLanes = view.getUint32(20, true);
	const exact = (view.getUint32(28, true) & 1) === 0;
	const laneBytes = 8 + n * CELLS * WORDS * 4;
	if (view.getUint32(24, true) !== CELLS || level > MAX_LEVEL || HEADER + nLanes * laneBytes !== buffer.byteLength)
		throw new Error('tiles: unexpected size');
	const lanes: LaneTiles[] = [];
	for (let i = 0; i < nLanes; i++) {
		const offset = HEADER + i * laneBytes;
		const tiles: Tile[] = [];
		for (let j = 0; j < n; j++)
			tiles.push(makeTile(view, offset + 8 + j * CELLS * WORDS * 4, exact));
		lanes.push({ lane: view.getUint32(offset, true), tiles });
	}
	return { level, first, lanes };
}

/* The level whose cells are 0.75 to 1.5 pixels wide. */
export function levelOf(nsPerPixel: number): number {
	return Math.min(MAX_LEVEL, Math.max(0, Math.floor(Math.log2(Math.max(nsPerPixel, 1e-9) * 1.5))));
}
