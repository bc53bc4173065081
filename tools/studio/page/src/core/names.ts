// SPDX-License-Identifier: Apache-2.0
// Names from traces are untrusted: they may have control characters, characters that change the direction of text, and a
// megabyte of them. Each name passes clean() before it is shown.

const HOSTILE = new RegExp(
	'[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
	'\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|' +
	'(?<![\\ud800-\\udbff])[\\udc00-\\udfff]|\\udb40[\\udc00-\\udfff]', 'g');

export const MAX_NAME = 4000;
const NO_NAME = '(no name)';

function escape(character: string): string {
	return Array.from(character).map((c) => '\\u{' + (c.codePointAt(0) as number).toString(16) + '}').join('');
}

/* The name with hostile characters as escapes, at most `max` characters and a mark of the cut. */
export function clean(name: unknown, max = MAX_NAME): string {
	let text = typeof name === 'string' ? name : String(name);
	let cut = 0;
	if (text.length > max) {
		cut = text.length - max;
		text = text.slice(0, max);
	}
	text = text.replace(HOSTILE, escape);
	// Marks that stack up on a character: at most three.
	text = text.replace(/(\p{M}{3})\p{M}+/gu, '$1\u2026');
	return cut && max >= 1000 ? text + '\u2026 (' + cut + ' more characters)' : cut ? text + '\u2026' : text;
}

/* A word of an answer, such as "off_cpu", for people. */
export function spelled(word: string): string {
	return word.replace(/_/g, ' ').replace(/\b(cpu|gpu)\b/g, (short) => short.toUpperCase()).replace(/\bio\b/g, 'I/O');
}

/* The text without what stands in balanced pairs of `open` and `close`. */
function without(text: string, open: string, close: string, mark: string): string {
	let depth = 0;
	let result = '';
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		// "operator<" and "->" are no brackets.
		if (c === open && !/operator<*$/.test(result.slice(-10))) {
			if (depth++ === 0)
				result += mark;
		} else if (c === close && depth > 0 && text[i - 1] !== '-') {
			depth--;
		} else if (depth === 0) {
			result += c;
		}
	}
	return result;
}

/*
 * The part of a C++ name that tells kernels apart at a glance: "void at::native::elementwise_kernel<4, ...>(int)" becomes
 * "elementwise_kernel". A name that is no C++ name stays as it is.
 */
export function shorten(name: string): string {
	let text = name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name;
	if (!/[(<:]/.test(text))
		return text;
	text = text.replace(/\(anonymous namespace\)/g, 'anonymous').replace(/\{lambda\([^{}]*\)#(\d+)\}/g, 'lambda$1')
		.replace(/operator\(\)/g, 'call').replace(/ \[clone [^\]]*\]/g, '');
	text = without(without(text, '<', '>', ''), '(', ')', '\u0001');
	text = text.split('\u0001')[0].trim();
	const words = text.split(' ');
	text = words[words.length - 1] || text;
	const parts = text.split('::').filter((part) => part !== '' && part !== 'anonymous');
	let first = parts.length - 1;
	while (first > 0 && /^(lambda\d*|call)$/.test(parts[first]))
		first--;
	return parts.slice(first).join('::').replace(/::call$/, '') || name;
}

/* A name for a place with little room: the part that tells kernels apart, cleaned, at most `max` characters. */
export function brief(name: unknown, max: number): string {
	return elide(clean(shorten(typeof name === 'string' ? name : String(name)), max + 1), max);
}

/* The words of names that differ, up to four of them: the first places at which the names have different words. */
function differences(names: ReadonlyArray<string>): string[] {
	const words = names.map((name) => name.slice(0, MAX_NAME).match(/\w+/g) || []);
	const most = Math.max(...words.map((list) => list.length));
	const parts: string[][] = names.map(() => []);
	for (let i = 0, n = 0; i < most && n < 4; i++) {
		if (words.every((list) => list[i] === words[0][i]))
			continue;
		words.forEach((list, k) => parts[k].push(list[i] || ''));
		n++;
		if (new Set(parts.map((part) => part.join(' '))).size === names.length)
			break;
	}
	return parts.map((part) => part.filter(Boolean).join('\u2026'));
}

/*
 * brief() of each name of a list, which names that are short alike follow with the words in which they differ:
 * "elementwise_kernel \u2026AddFunctor\u2026".
 */
export function briefs(names: ReadonlyArray<string>, max: number): Map<string, string> {
	const alike = new Map<string, string[]>();
	for (const name of new Set(names)) {
		const short = brief(name, max);
		alike.set(short, [...(alike.get(short) || []), name]);
	}
	const result = new Map<string, string>();
	for (const [text, list] of alike) {
		const short = text || NO_NAME;
		const parts = list.length > 1 ? differences(list) : [''];
		list.forEach((name, i) => result.set(name, parts[i] ? short + ' \u2026' + brief(parts[i], 60) + '\u2026' : short));
	}
	return result;
}

/* At most `max` characters, with an ellipsis in the end. */
export function elide(text: string, max: number): string {
	return text.length <= max ? text : text.slice(0, Math.max(0, max - 1)) + '\u2026';
}

/*
 * A filter of rows that matches this name, and next to none besides: a filter without wildcards matches each name that contains it, so a
 * harmless one is put in. Names with stars, as of pointers, need escapes. The caller compares the names of the rows, because of a name
 * too long for a question only the first part is matched.
 */
export function filterOf(name: string): string {
	const escaped = (text: string) => text.replace(/[*?[\]\\]/g, '\\$&');
	const at = name.search(/\w/);
	if (at < 0 || name.length > MAX_NAME)
		return escaped(name.slice(0, MAX_NAME).replace(/[\ud800-\udbff]$/, '')) + '*';
	return escaped(name.slice(0, at)) + '[' + name[at] + '?]' + escaped(name.slice(at + 1));
}

/* The last part of a path, and the part before it if there is room. */
export function baseName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}
