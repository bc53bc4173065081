// SPDX-License-Identifier: Apache-2.0
// Requests to the server: token, cancellation, errors as one line. All other modules of the page ask through this one.
import { FlameAnswer } from '../core/flame';
import { Integer, parseJson, parseLines } from '../core/json';
import { decodeTiles, TileAnswer } from '../core/tile';

const SLICE_MS = 12; // a long answer is read in slices, so that frames come between them
const PIECE = 16384;  // bytes

export type LaneKind = 'process' | 'thread' | 'ranges' | 'device' | 'stream' | 'copy' | 'compute' | 'kernel_events' |
	'host_samples' | 'counter' | 'group';

export interface LaneInfo {
	id: number;
	parent: number;
	kind: LaneKind;
	name: string;
	session?: number;
	device?: number;
	stream?: number;
	thread?: number; // number of the thread in the trace
	tid?: number;    // number of the thread in the system
	rows: number;
	depth: number;
	trace?: number;
	folded?: boolean; // of little interest at first: the recorder's own counters
}

export interface TraceInfo {
	version: number | string;
	path: string;
	format: string;
	origin_ns: Integer;
	duration_ns: number;
	live: boolean;
	sessions: Array<{ [key: string]: unknown }>;
	lanes: LaneInfo[];
	traces: number;
	second_path?: string;
	second_duration_ns?: number;
	second_origin_ns?: Integer;
	changed?: boolean; // a file was replaced or written since the server opened it
}

export interface RowColumns {
	start: number[];
	end: number[];
	key: number[];
	op: Integer[];
	depth: number[];
	value?: Array<number | string | null>; // null: no number; infinite values are strings
	row?: Integer[]; // numbers, if they were asked for
	more: boolean;
}

export interface Row {
	type: string;
	start_ns: Integer;
	end_ns: Integer;
	[key: string]: unknown;
}

export interface Match {
	lane: number;
	row: Integer;
	op: Integer;
	start: number;
	end: number;
	key: number;
	name: string;
	matches: number;
}

export interface Arrow {
	kind: 'launch' | 'event' | 'dependency' | 'critical';
	edge: string; // kind of the edge in `tsctl graph`
	from_op: Integer;
	from_lane: number;
	from_ns: number;
	to_lane: number;
	to_ns: number;
	op: Integer;
}

export interface SlackRows {
	start_ns: number; // of the window that the slack counts in
	end_ns: number;
	rows: { lane: number[]; kind: string[]; op: Integer[]; start: number[]; end: number[]; slack: number[]; critical: number[] };
	more: boolean;
}

export interface WhatIf {
	layer: number;
	before_ns: number;
	after_ns: number;
	end_ns?: number; // of the last row
	part?: boolean;  // a part of the trace was emulated: calls that start in [start_ns, stop_ns]
	windows?: number; // more than 1: emulated in windows, one after another
	start_ns?: number;
	stop_ns?: number;
	edited?: number; // operations and calls that the edits changed
	doubts?: { [kind: string]: number };
}

export interface LiveState {
	duration_ns: number;
	state: string;
	rows: number;
}

/* An answer other than 200: `status`, and the server's line as the message. */
export class ApiError extends Error {
	constructor(readonly status: number, message: string) {
		super(message.replace(/`([^`]*)`/g, '\u201c$1\u201d'));
	}
}

export function isAbort(error: unknown): boolean {
	return error instanceof DOMException && error.name === 'AbortError';
}

async function failure(response: Response): Promise<ApiError> {
	let message = response.status === 401 ? 'the token is missing or wrong: open the address that `tsctl studio` printed' :
		'the server answered ' + response.status;
	try {
		const body = JSON.parse(await response.text()) as { error?: unknown };
		if (typeof body.error === 'string' && body.error)
			message = body.error;
	} catch (_) {
		// The body is no JSON: the status is the message.
	}
	return new ApiError(response.status, message);
}

export class Api {
	constructor(private readonly token: string) {}

	private async fetch(path: string, signal: AbortSignal | undefined, body?: unknown): Promise<Response> {
		const headers: Record<string, string> = { Authorization: 'Bearer ' + this.token };
		if (body !== undefined)
			headers['Content-Type'] = 'application/json';
		let response: Response;
		try {
			response = await fetch('/api/' + path, {
				method: body === undefined ? 'GET' : 'POST', headers, signal, cache: 'no-store',
				credentials: 'omit', redirect: 'error', body: body === undefined ? undefined : JSON.stringify(body),
			});
		} catch (error) {
			if (isAbort(error))
				throw error;
			throw new ApiError(0, 'the server does not answer: is `tsctl studio` still running?');
		}
		if (!response.ok)
			throw await failure(response);
		return response;
	}

	private async json<T>(path: string, signal?: AbortSignal, body?: unknown): Promise<T> {
		return parseJson(await (await this.fetch(path, signal, body)).text()) as T;
	}

	trace(signal?: AbortSignal): Promise<TraceInfo> {
		return this.json('trace', signal);
	}

	/* `again`: all of them are here, as estimates. */
	async tiles(level: number, first: number, n: number, lanes: number[], layer: number, again: boolean,
		signal?: AbortSignal): Promise<TileAnswer> {
		const path = 'tiles?level=' + level + '&first=' + first + '&n=' + n + '&lanes=' + lanes.join(',') +
			(layer ? '&layer=' + layer : '') + (again ? '&again=1' : '');
		return decodeTiles(await (await this.fetch(path, signal)).arrayBuffer());
	}

	names(keys: number[], trace: number, signal?: AbortSignal): Promise<{ [key: string]: { name: string; type: string } }> {
		return this.json('names?keys=' + keys.join(',') + (trace ? '&trace=' + trace : ''), signal);
	}

	rows(lane: number, from: number, to: number, limit: number, layer: number, signal?: AbortSignal): Promise<RowColumns> {
		return this.json('rows?lane=' + lane + '&from=' + Math.max(0, Math.floor(from)) + '&to=' +
			Math.max(0, Math.ceil(to)) + '&limit=' + limit + (layer ? '&layer=' + layer : ''), signal);
	}

	/* The rows of a lane that cover an instant, with their numbers. */
	numbered(lane: number, at: number, signal?: AbortSignal): Promise<RowColumns> {
		return this.json('rows?lane=' + lane + '&from=' + at + '&to=' + (at + 1) + '&limit=65536&numbers=1', signal);
	}

	/* `row`: its number, if it is known; otherwise the depth tells it from others. */
	rowAt(lane: number, at: number, depth: number | undefined, row: Integer | undefined, signal?: AbortSignal): Promise<Row> {
		return this.json('row?lane=' + lane + '&at=' + Math.floor(at) + (row !== undefined ? '&row=' + row :
			depth === undefined ? '' : '&depth=' + depth), signal);
	}

	/* The first bytes of a captured content, in hexadecimal. */
	content(session: number, content: number, trace: number, signal?: AbortSignal): Promise<{ bytes: number; hex: string }> {
		return this.json('content?session=' + session + '&content=' + content + (trace ? '&trace=' + trace : ''), signal);
	}

	/* `session`: each session of a trace numbers its operations by itself; undefined: any session. */
	rowOf(op: Integer, trace: number, session: number | undefined, signal?: AbortSignal): Promise<Row> {
		return this.json('row?op=' + op + (trace ? '&trace=' + trace : '') + (session ? '&session=' + session : ''), signal);
	}

	ask<T>(question: string, options: object, trace: number, signal?: AbortSignal, session?: number): Promise<T> {
		return this.json('ask', signal, { question, options, trace, session: session || undefined });
	}

	async askLines<T>(question: string, options: object, trace: number, signal?: AbortSignal, session?: number): Promise<T[]> {
		const response = await this.fetch('ask', signal, { question, options, trace, session: session || undefined });
		return parseLines(await response.text()) as T[];
	}

	/* Calls `take` with each line of an answer that may be long: the page stays responsive, and keeps nothing of the text. */
	async eachLine<T>(question: string, options: object, trace: number, session: number | undefined, signal: AbortSignal,
		take: (line: T) => void): Promise<void> {
		const response = await this.fetch('ask', signal, { question, options, trace, session: session || undefined });
		const reader = (response.body as ReadableStream<Uint8Array>).getReader();
		const decoder = new TextDecoder();
		let rest = '';
		let begun = performance.now();
		for (let chunk = await reader.read(); chunk.value; chunk = await reader.read()) {
			// Small pieces die young: the page's memory does not grow with the answer.
			for (let from = 0; from < chunk.value.length; from += PIECE) {
				const text = rest + decoder.decode(chunk.value.subarray(from, from + PIECE), { stream: true });
				let at = 0;
				for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
					if (end > at)
						take(parseJson(text.slice(at, end)) as T);
					at = end + 1;
				}
				rest = text.slice(at);
				if (performance.now() - begun > SLICE_MS) {
					await new Promise((resolve) => setTimeout(resolve, 0));
					if (signal.aborted)
						return;
					begun = performance.now();
				}
			}
		}
	}

	flame(from: number, to: number, weight: string, trace: number, signal?: AbortSignal): Promise<FlameAnswer> {
		return this.json('flame?from=' + from + '&to=' + to + '&weight=' + weight + (trace ? '&trace=' + trace : ''), signal);
	}

	/* The next match behind another one, or behind a time; undefined: from the end of the trace that the direction leaves. */
	search(text: string, from: Match | number | undefined, direction: 1 | -1, regex: boolean, trace: number, signal?: AbortSignal): Promise<Match> {
		const place = from === undefined ? '' : typeof from === 'number' ? '&from=' + Math.max(0, Math.floor(from)) :
			'&from=' + from.start + '&lane=' + from.lane + '&row=' + from.row;
		return this.json('search?text=' + encodeURIComponent(text) + place + '&direction=' + direction + (regex ? '&regex=1' : '') +
			(trace ? '&trace=' + trace : ''), signal);
	}

	arrowsOf(op: Integer, trace: number, session: number | undefined, signal?: AbortSignal): Promise<{ arrows: Arrow[] }> {
		return this.json('arrows?op=' + op + (trace ? '&trace=' + trace : '') + (session ? '&session=' + session : ''), signal);
	}

	arrows(from: number, to: number, limit: number, trace: number, signal?: AbortSignal): Promise<{ arrows: Arrow[] }> {
		return this.json('arrows?from=' + Math.max(0, Math.floor(from)) + '&to=' + Math.max(0, Math.ceil(to)) + '&limit=' + limit +
			(trace ? '&trace=' + trace : ''), signal);
	}

	/* `window`: slack counts to the latest end in it; undefined: in the whole trace. `session`: to the end of this one. */
	slack(lanes: number[], from: number, to: number, window: readonly [number, number] | undefined, session: number | undefined,
		signal?: AbortSignal): Promise<SlackRows> {
		return this.json('slack?lanes=' + lanes.join(',') + '&from=' + from + '&to=' + to + '&limit=20000' +
			(window ? '&start=' + window[0] + '&end=' + window[1] : '') + (session ? '&session=' + session : ''), signal);
	}

	/* The server may emulate a part of the trace around the view, unless `whole`. */
	whatIf(edits: string[], view: readonly [number, number], whole: boolean, signal?: AbortSignal): Promise<WhatIf> {
		return this.json('what-if', signal, { edits, from: view[0], to: view[1], whole });
	}

	/* Rows of the long emulation that were read, and all rows. */
	whatIfProgress(signal?: AbortSignal): Promise<{ done: number; all: number }> {
		return this.json('what-if', signal);
	}

	live(signal?: AbortSignal): Promise<LiveState> {
		return this.json('live', signal);
	}

	control(action: 'start' | 'stop' | 'capture' | 'capture-end', signal?: AbortSignal): Promise<unknown> {
		return this.json('live', signal, { do: action });
	}
}
