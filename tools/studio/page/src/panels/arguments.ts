// SPDX-License-Identifier: Apache-2.0
// The arguments of a captured launch, and the memory that a call touched: addresses with the allocation that they are in. Asks "content",
// and "state" for the allocations at the call.
import { Child, el, link, nameText, number, table } from '../core/dom';
import { clean } from '../core/names';
import { Parameter, parameterTypes, placeParameters, valueText } from '../core/parameters';
import { Row } from '../data/api';
import { Model } from '../model';
import { Shell } from './panel';

interface Allocation {
	address: number | string;
	bytes: number;
	kind?: string;
	op_id?: number;
}

interface Word {
	offset: number;
	value: bigint;
	bytes: number; // 8, or fewer at the end
}

const WORDS = 64; // listed, or arguments

/* The words of 8 bytes, little-endian, of a text in hexadecimal. */
function wordsOf(hex: string): Word[] {
	const words: Word[] = [];
	for (let at = 0; at < hex.length && words.length < WORDS; at += 16) {
		const pairs = hex.slice(at, at + 16).match(/../g) || [];
		words.push({ offset: at / 2, value: BigInt('0x' + (pairs.reverse().join('') || '0')), bytes: pairs.length });
	}
	return words;
}

export class Touched {
	private allocations: Allocation[] = [];

	constructor(private readonly model: Model, private readonly shell: Shell, private readonly trace: number,
		private readonly session: number | undefined) {}

	/* Reads the allocations that are live at a call. */
	async read(call: Row, signal: AbortSignal): Promise<void> {
		const at = this.model.relative(call.start_ns, this.trace);
		const state = await this.model.api.ask<{ allocations?: Allocation[] }>('state',
			{ at: { ns: at, from_start: true }, stacks: false }, this.trace, signal, this.session);
		this.allocations = state.allocations || [];
	}

	private find(address: bigint): Allocation | undefined {
		return this.allocations.find((one) => address >= BigInt(one.address) && address < BigInt(one.address) + BigInt(one.bytes));
	}

	/* The allocation that an address is in. */
	place(address: bigint): Child {
		const found = this.find(address);
		if (!found)
			return undefined;
		const offset = address - BigInt(found.address);
		const kind = clean((found.kind || 'device') + ' memory', 40) + (offset ? ', byte ' + offset : '');
		return el('span', { data: { allocation: String(found.address) } }, number('bytes', found.bytes), ' of ', found.op_id ?
			link(kind, 'Show the call that allocated it', () => void this.shell.goToOperation(found.op_id as number, this.trace, this.session)) :
			kind);
	}

	/* The arguments of a launch, with their types if the kernel's name has them. */
	async arguments(operation: Row, kernel: string, signal: AbortSignal): Promise<HTMLElement[]> {
		const answer = await this.model.api.content(operation.session as number, operation.content as number, this.trace, signal);
		const types = parameterTypes(kernel);
		const places = types && placeParameters(types, answer.bytes);
		return places ? this.typed(answer.hex, places) : this.words(answer.hex, answer.bytes);
	}

	private typed(hex: string, places: Parameter[]): HTMLElement[] {
		const data = new DataView(Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16)).buffer);
		const address = (place: Parameter): bigint | undefined => place.kind === 'pointer' && place.offset + 8 <= data.byteLength ?
			data.getBigUint64(place.offset, true) : undefined;
		return [table('Arguments', [
			{ head: 'Byte', class: 'number', cell: (place: Parameter) => String(place.offset) },
			// Words stay whole, unless they are as long as those of templates.
			{ head: 'Type', class: 'words', cell: (place) => (/\S{18}/.test(place.type) ? nameText(place.type, 120) : clean(place.type, 120)) },
			{ head: 'Value', class: 'words', cell: (place) => {
				const value = address(place);
				const memory = value === undefined ? undefined : this.place(value);
				return el('span', {}, el('span', { class: 'value' }, valueText(data, place) ?? 'not read'),
					memory ? el('div', { class: 'dim' }, memory) : undefined);
			} },
		], places.slice(0, WORDS), (place) => ({ data: { argument: place.offset, type: place.type.slice(0, 200) } })),
		el('p', { class: 'dim' }, (places.length > WORDS ? 'The first ' + WORDS + ' of ' + places.length + ' arguments. ' : '') +
			'Types are those of the kernel\u2019s name' + (places.some((place) => place.kind === 'bytes') ?
			'; the name does not tell the size of a structure.' : '.'))];
	}

	/* Without types: words of 8 bytes. */
	private words(hexText: string, bytes: number): HTMLElement[] {
		const words = wordsOf(hexText);
		const hex = (word: Word): string => '0x' + word.value.toString(16).padStart(2 * word.bytes, '0');
		const parts = (word: Word): string => (word.bytes === 8 ? (word.value & 0xffffffffn) + ', ' + (word.value >> 32n) : String(word.value));
		return [table('Arguments', [
			{ head: 'Byte', class: 'number', cell: (word: Word) => String(word.offset) },
			{ head: 'Value', class: 'short', cell: (word) => hex(word) },
			{ head: 'As two numbers', class: 'number', cell: (word) => parts(word) },
			{ head: 'Memory', cell: (word) => this.place(word.value) },
		], words, (word) => ({ data: { word: String(word.value) } })),
		el('p', { class: 'dim' }, (words.length * 8 < bytes ? 'The first ' + words.length * 8 + ' of ' + bytes + ' bytes. ' : '') +
			'The types are unknown: the kernel\u2019s name has none, or others than these bytes fit. Memory is named if a value is an address in it.')];
	}
}
