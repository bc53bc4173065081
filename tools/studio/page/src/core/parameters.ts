// SPDX-License-Identifier: Apache-2.0
// The parameters of a kernel by its demangled name: their types, and where the packed arguments of a launch have them. The name of a
// kernel with C linkage has no types. Sizes are those of nvcc for 64-bit Linux.

export type Kind = 'pointer' | 'float' | 'brain' | 'signed' | 'unsigned' | 'bool' | 'bytes';

export interface Parameter {
	type: string;
	offset: number;
	bytes: number;
	kind: Kind;
	n: number; // values: 4 of a float4; 'bytes': 1
}

interface Layout {
	kind: Kind;
	bytes: number; // of one value
	n: number;
	align: number;
}

const SCALARS: { readonly [type: string]: readonly [Kind, number] } = {
	'bool': ['bool', 1], 'char': ['signed', 1], 'signed char': ['signed', 1], 'unsigned char': ['unsigned', 1], 'char8_t': ['unsigned', 1],
	'short': ['signed', 2], 'unsigned short': ['unsigned', 2], 'char16_t': ['unsigned', 2], 'int': ['signed', 4], 'unsigned int': ['unsigned', 4],
	'unsigned': ['unsigned', 4], 'char32_t': ['unsigned', 4], 'wchar_t': ['signed', 4], 'long': ['signed', 8], 'unsigned long': ['unsigned', 8],
	'long long': ['signed', 8], 'unsigned long long': ['unsigned', 8], 'float': ['float', 4], 'double': ['float', 8],
	'__half': ['float', 2], 'half': ['float', 2], '__nv_bfloat16': ['brain', 2], 'c10::Half': ['float', 2], 'c10::BFloat16': ['brain', 2],
};

/* Vectors of CUDA: the type of a value. */
const VECTORS: { readonly [type: string]: string } = {
	char: 'char', uchar: 'unsigned char', short: 'short', ushort: 'unsigned short', int: 'int', uint: 'unsigned int', long: 'long',
	ulong: 'unsigned long', longlong: 'long long', ulonglong: 'unsigned long long', float: 'float', double: 'double',
};

function layoutOf(text: string): Layout | undefined {
	const type = text.replace(/\b(const|volatile|__restrict__|__restrict|restrict)\b/g, ' ').replace(/\s+/g, ' ').trim();
	if (/[*&]$/.test(type) || /\([^()]*\*\)\s*\(/.test(type) || type === 'std::nullptr_t' || type === 'decltype(nullptr)')
		return { kind: 'pointer', bytes: 8, n: 1, align: 8 };
	if (Object.prototype.hasOwnProperty.call(SCALARS, type)) {
		const [kind, bytes] = SCALARS[type];
		return { kind, bytes, n: 1, align: bytes };
	}
	if (type === 'dim3')
		return { kind: 'unsigned', bytes: 4, n: 3, align: 4 };
	if (type === '__half2' || type === 'half2' || type === '__nv_bfloat162')
		return { kind: type.includes('bfloat') ? 'brain' : 'float', bytes: 2, n: 2, align: 4 };
	const vector = /^([a-z]+)([1-4])$/.exec(type);
	if (!vector || !Object.prototype.hasOwnProperty.call(VECTORS, vector[1]))
		return undefined;
	const [kind, bytes] = SCALARS[VECTORS[vector[1]]];
	const n = Number(vector[2]);
	// Vectors of 2 and 4 values are aligned to their size, up to 16; those of 3 values to a value.
	return { kind, bytes, n, align: n === 3 ? bytes : Math.min(16, n * bytes) };
}

/* Splits at commas that are in no brackets. */
function split(text: string): string[] {
	const parts: string[] = [];
	let depth = 0;
	let from = 0;
	for (let i = 0; i < text.length; i++) {
		if ('<([{'.includes(text[i])) {
			depth++;
		} else if ('>)]}'.includes(text[i]) && text[i - 1] !== '-') {
			depth--;
		} else if (text[i] === ',' && depth === 0) {
			parts.push(text.slice(from, i).trim());
			from = i + 1;
		}
	}
	const last = text.slice(from).trim();
	return last ? [...parts, last] : parts;
}

/* The types of a kernel's parameters; undefined: its name does not tell. */
export function parameterTypes(name: string): string[] | undefined {
	const text = name.replace(/( \[clone [^\]]*\])+$/, '').trim();
	let depth = 0;
	if (!text.endsWith(')'))
		return undefined;
	for (let i = text.length - 1; i > 0; i--) {
		if (text[i] === ')')
			depth++;
		else if (text[i] === '(' && --depth === 0)
			return split(text.slice(i + 1, -1));
	}
	return undefined;
}

function parameter(type: string, offset: number, layout: Layout): Parameter {
	return { type, offset, bytes: layout.bytes * layout.n, kind: layout.kind, n: layout.n };
}

/* Places the last parameters from the end, as far as their places are certain. */
function placeLast(types: string[], layouts: Array<Layout | undefined>, first: number, bytes: number): Parameter[] {
	const placed: Parameter[] = [];
	let end = bytes;
	let slack = 0; // the parameter may end so many bytes, less one, before `end`
	for (let i = types.length - 1; i > first; i--) {
		const layout = layouts[i];
		if (!layout)
			break;
		const offset = Math.floor((end - layout.bytes * layout.n) / layout.align) * layout.align;
		const before = offset - layout.align;
		if (offset < 0 || end - (offset + layout.bytes * layout.n) > slack || end - (before + layout.bytes * layout.n) <= slack)
			break;
		placed.unshift(parameter(types[i], offset, layout));
		end = offset;
		slack = layout.align - 1;
	}
	return placed;
}

/*
 * The places of parameters in `bytes` of packed arguments. Types whose size is unknown, such as structures, are one parameter together
 * with what lies between them. undefined: the types do not fit the bytes.
 */
export function placeParameters(types: string[], bytes: number): Parameter[] | undefined {
	const layouts = types.map(layoutOf);
	const placed: Parameter[] = [];
	let end = 0;
	let i = 0;
	for (; i < types.length; i++) {
		const layout = layouts[i];
		if (!layout)
			break;
		const offset = Math.ceil(end / layout.align) * layout.align;
		placed.push(parameter(types[i], offset, layout));
		end = offset + layout.bytes * layout.n;
	}
	if (i === types.length)
		return end === bytes ? placed : undefined;
	const last = placeLast(types, layouts, i, bytes);
	const until = last.length ? last[0].offset : bytes;
	if (until <= end)
		return undefined;
	return [...placed, { type: types.slice(i, types.length - last.length).join(', '), offset: end, bytes: until - end, kind: 'bytes', n: 1 },
		...last];
}

/* A float of 16 bits, as IEEE 754 or as a brain float. */
function half(bits: number, isBrain: boolean): number {
	if (isBrain)
		return new Float32Array(new Uint32Array([bits << 16]).buffer)[0];
	const exponent = (bits >> 10) & 31;
	const fraction = bits & 1023;
	const sign = bits >> 15 ? -1 : 1;
	if (exponent === 31)
		return fraction ? NaN : sign * Infinity;
	return sign * (exponent ? (1024 + fraction) * Math.pow(2, exponent - 25) : fraction * Math.pow(2, -24));
}

function numberAt(data: DataView, at: number, kind: Kind, bytes: number): string {
	if (kind === 'float' || kind === 'brain') {
		const value = bytes === 8 ? data.getFloat64(at, true) : bytes === 4 ? Number(data.getFloat32(at, true).toPrecision(9)) :
			half(data.getUint16(at, true), kind === 'brain');
		return String(value);
	}
	let value = 0n;
	for (let i = bytes; i--;)
		value = value << 8n | BigInt(data.getUint8(at + i));
	if (kind === 'bool' && value < 2n)
		return value ? 'true' : 'false';
	return String(kind === 'signed' ? BigInt.asIntN(8 * bytes, value) : value);
}

/* The value of a parameter as text; bytes and pointers in hexadecimal. undefined: the data end before it. */
export function valueText(data: DataView, place: Parameter): string | undefined {
	if (place.offset + place.bytes > data.byteLength)
		return undefined;
	if (place.kind === 'pointer')
		return '0x' + data.getBigUint64(place.offset, true).toString(16);
	if (place.kind === 'bytes') {
		const bytes = new Uint8Array(data.buffer, data.byteOffset + place.offset, Math.min(place.bytes, 64));
		return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ') + (place.bytes > 64 ? ' \u2026' : '');
	}
	const each = place.bytes / place.n;
	return Array.from({ length: place.n }, (_, i) => numberAt(data, place.offset + i * each, place.kind, each)).join(', ');
}
