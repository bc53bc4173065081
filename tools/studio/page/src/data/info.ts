// SPDX-License-Identifier: Apache-2.0
// The answer to "info": what the trace is. Several parts of the page read it.
import { Stack } from '../core/frames';
import { Integer } from '../core/json';
import { clean } from '../core/names';

export interface LaunchSite {
	frame?: string;
	count?: number;
	callers?: string[];
}

export interface InfoKernel {
	name: string;
	count: number;
	total_ns: number;
	mean_ns: number;
	max_ns: number;
}

export interface CallError {
	name: string;
	error: string;
	count: number;
	session?: number;
	start_ns: number;
	op_id?: number;
	thread_name?: string;
	tid?: number;
	bytes?: number;
	stack?: Stack;
	suspects?: Array<{ op_id: number; kernel?: string; stack?: Stack }>;
	held_bytes?: number;
	held_sites?: Array<LaunchSite & { total_bytes?: number }>;
}

export interface Info {
	format: string;
	path: string;
	bytes: number;
	finished?: boolean;
	truncated?: boolean;
	damaged_at?: number;
	start_ns: Integer;
	duration_ns: number;
	clock_error_ns?: number;
	empty_reason?: string;
	counts?: { [type: string]: number };
	lost?: { [reason: string]: number };
	metadata?: { [key: string]: string };
	errors?: CallError[];
	failed_calls?: number;
	kernels?: InfoKernel[];
	sessions?: Array<{ session: number; pid: number; program: string; state: string; end_reason?: string; threads?: number; lost?: object }>;
	devices?: Array<{ device: number; name: string; compute_capability?: string; multiprocessors?: number; memory_bytes?: number;
		virtual?: boolean }>;
}

const MOST_DIED = 4; // processes that are listed

/* A reader of any number of the trace must know that it is empty, or that rows are missing. */
export function warnings(info: Info, isLive: boolean): string[] {
	const result: string[] = [];
	if (info.empty_reason)
		result.push('No GPU operation was recorded: ' + clean(info.empty_reason, 500));
	if (info.truncated && !isLive)
		result.push('The file is cut off, it was never finished: rows of the lost part are missing.');
	if (info.damaged_at !== undefined)
		result.push('A block of the file at byte ' + info.damaged_at + ' could not be read: answers lack its rows.');
	return result;
}

/* The processes that did not end by themselves. */
export function deaths(info: Info): string[] {
	const died = (info.sessions || []).filter((session) => session.state === 'died' || session.state === 'dropped');
	return [...died.slice(0, MOST_DIED).map((session) => clean(session.program + ' (process ' + session.pid + '): ' +
		(session.end_reason || 'killed or crashed'), 300)),
	...(died.length > MOST_DIED ? ['and ' + (died.length - MOST_DIED) + ' more processes that did not end by themselves'] : [])];
}
