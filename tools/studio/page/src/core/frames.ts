// SPDX-License-Identifier: Apache-2.0
// A host stack as `tsctl --json` prints it, as frames to show: native and Python, innermost first.
import { baseName, shorten } from './names';

export interface StackSymbol {
	frame: number;
	function?: string;
	file?: string;
	line?: number;
	inlined?: boolean;
	module?: string;
	offset?: number;
	hidden?: boolean;
}

export interface Stack {
	id?: number;
	frames?: string[];
	truncated?: boolean;
	symbols?: StackSymbol[];
	modules?: Array<{ frame: number; path?: string; offset?: number }>;
	hidden?: number[];
}

export interface Frame {
	text: string;   // function, or module+offset, or address
	place: string;  // file:line, or the module
	kind: 'python' | 'native' | 'unknown';
	hidden: boolean; // of the tracer, the vendor or the interpreter
}

// Templates of the vendor's headers, such as cudaMalloc<float>, which are inlined into the program's functions.
const WRAPPER = /^cuda[A-Z]/;
const PYTHON = /^(.*) \((.*):(\d+)\)$/;

function hex(value: number): string {
	return '0x' + value.toString(16);
}

function symbolFrame(symbol: StackSymbol, hidden: boolean): Frame {
	const file = symbol.file ? baseName(symbol.file) + (symbol.line ? ':' + symbol.line : '') : '';
	const module = symbol.module ? baseName(symbol.module) : '';
	return {
		text: symbol.function || (module ? module + '+' + hex(symbol.offset || 0) : '?'),
		place: file || module,
		kind: 'native',
		hidden: hidden || symbol.hidden === true || (symbol.inlined === true && WRAPPER.test(symbol.function || '')),
	};
}

export function framesOf(stack: Stack | undefined): Frame[] {
	const result: Frame[] = [];
	const symbols = new Map<number, StackSymbol[]>();
	const modules = new Map<number, { path?: string; offset?: number }>();
	if (!stack || !stack.frames)
		return result;
	for (const symbol of stack.symbols || []) {
		const list = symbols.get(symbol.frame);
		if (list)
			list.push(symbol);
		else
			symbols.set(symbol.frame, [symbol]);
	}
	for (const module of stack.modules || [])
		modules.set(module.frame, module);
	const hidden = new Set(stack.hidden || []);
	stack.frames.forEach((text, i) => {
		const python = PYTHON.exec(text);
		const list = symbols.get(i);
		const module = modules.get(i);
		if (python && !text.startsWith('0x')) {
			result.push({ text: python[1], place: python[2] + ':' + python[3], kind: 'python', hidden: hidden.has(i) });
		} else if (list) {
			for (const symbol of list)
				result.push(symbolFrame(symbol, hidden.has(i)));
		} else if (module && module.path) {
			result.push({ text: baseName(module.path) + '+' + hex(module.offset || 0), place: module.path,
				kind: 'native', hidden: hidden.has(i) });
		} else {
			result.push({ text, place: '', kind: 'unknown', hidden: hidden.has(i) });
		}
	});
	return result;
}

/* The innermost frame that belongs to the program: Python first, as in the answers of `tsctl`. */
export function siteOf(stack: Stack | undefined): string {
	const frames = framesOf(stack).filter((frame) => !frame.hidden && frame.kind !== 'unknown');
	const frame = frames.find((f) => f.kind === 'python') || frames[0];
	if (!frame)
		return '';
	return (frame.kind === 'native' && frame.text.includes('::') ? shorten(frame.text) : frame.text) + (frame.place ? ' (' + baseName(frame.place) + ')' : '');
}
