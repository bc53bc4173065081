// SPDX-License-Identifier: Apache-2.0
// The address's fragment: the token, and the view that a link describes. The fragment never reaches the server.

export interface Mark {
	ns: number;
	label: string;
}

export interface ViewState {
	token?: string;
	from?: number;
	to?: number;
	lane?: number;
	row?: number;  // start of the selected row of the lane
	at?: number;
	op?: string;
	tab?: string;
	colour?: string;
	folded?: number[];
	expanded?: number[]; // lanes with all their levels
	span?: [number, number];
	marks?: Mark[];
	offset?: number;
	side?: number; // of two traces, the one of the panels
}

const MAX_MARKS = 100;

function number(text: string | null): number | undefined {
	if (text === null || !/^-?\d{1,16}$/.test(text))
		return undefined;
	return Number(text);
}

/* Reads a fragment, with or without "#". Malformed fields are left out. */
export function parseFragment(fragment: string): ViewState {
	const fields = new URLSearchParams(fragment.replace(/^#/, ''));
	const state: ViewState = {};
	const token = fields.get('token');
	if (token !== null && /^[0-9a-fA-F]{1,128}$/.test(token))
		state.token = token;
	const from = number(fields.get('from'));
	const to = number(fields.get('to'));
	if (from !== undefined && to !== undefined && to > from) {
		state.from = from;
		state.to = to;
	}
	state.lane = number(fields.get('lane'));
	state.row = number(fields.get('row'));
	state.at = number(fields.get('at'));
	state.offset = number(fields.get('offset'));
	if (fields.get('side') === '1')
		state.side = 1;
	const op = fields.get('op');
	if (op !== null && /^\d{1,20}$/.test(op))
		state.op = op;
	for (const key of ['tab', 'colour'] as const) {
		const value = fields.get(key);
		if (value !== null && /^[a-z-]{1,20}$/.test(value))
			state[key] = value;
	}
	for (const key of ['folded', 'expanded'] as const) {
		const lanes = fields.get(key);
		if (lanes !== null && /^\d+(\.\d+)*$/.test(lanes))
			state[key] = lanes.split('.').map(Number);
	}
	const span = /^(-?\d{1,16})\.\.(-?\d{1,16})$/.exec(fields.get('span') || '');
	if (span && Number(span[2]) > Number(span[1]))
		state.span = [Number(span[1]), Number(span[2])];
	const marks: Mark[] = [];
	for (const value of fields.getAll('mark').slice(0, MAX_MARKS)) {
		const match = /^(-?\d{1,16})(?::([\s\S]{0,200}))?$/.exec(value);
		if (match)
			marks.push({ ns: Number(match[1]), label: match[2] || '' });
	}
	if (marks.length)
		state.marks = marks;
	return state;
}

export function formatFragment(state: ViewState): string {
	const fields = new URLSearchParams();
	if (state.token)
		fields.set('token', state.token);
	if (state.from !== undefined && state.to !== undefined) {
		fields.set('from', String(Math.round(state.from)));
		fields.set('to', String(Math.max(Math.round(state.from) + 1, Math.round(state.to))));
	}
	if (state.lane !== undefined)
		fields.set('lane', String(state.lane));
	if (state.row !== undefined)
		fields.set('row', String(Math.round(state.row)));
	if (state.at !== undefined)
		fields.set('at', String(Math.round(state.at)));
	if (state.op !== undefined)
		fields.set('op', state.op);
	if (state.tab)
		fields.set('tab', state.tab);
	if (state.colour)
		fields.set('colour', state.colour);
	for (const key of ['folded', 'expanded'] as const) {
		const lanes = state[key];
		if (lanes && lanes.length)
			fields.set(key, lanes.join('.'));
	}
	if (state.span)
		fields.set('span', Math.round(state.span[0]) + '..' + Math.round(state.span[1]));
	if (state.side)
		fields.set('side', '1');
	if (state.offset)
		fields.set('offset', String(Math.round(state.offset)));
	for (const mark of state.marks || [])
		fields.append('mark', Math.round(mark.ns) + (mark.label ? ':' + mark.label : ''));
	return '#' + fields.toString();
}
