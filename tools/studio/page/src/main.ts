// SPDX-License-Identifier: Apache-2.0
// Starts the page: reads the address, asks for the trace, joins the timeline and the panels.
import { parseFragment } from './core/fragment';
import { byId } from './core/dom';
import { clean } from './core/names';
import { Api } from './data/api';
import { Info } from './data/info';
import { NameCache } from './data/name-cache';
import { Model } from './model';
import { Studio } from './studio';

const TOKEN = 'tracesmith-token';

function fail(error: unknown): void {
	const notice = byId('notice');
	notice.textContent = clean(error instanceof Error ? error.message : error, 500);
	notice.hidden = false;
}

/* The token of the address; after a reload without one, that of this tab. */
function findToken(fromAddress: string | undefined): string {
	try {
		if (fromAddress)
			sessionStorage.setItem(TOKEN, fromAddress);
		return fromAddress || sessionStorage.getItem(TOKEN) || '';
	} catch (_) {
		return fromAddress || '';
	}
}

async function start(): Promise<void> {
	const state = parseFragment(location.hash);
	const token = findToken(state.token);
	const api = new Api(token);
	const trace = await api.trace();
	if (trace.traces > 1 && trace.second_origin_ns === undefined)
		trace.second_origin_ns = (await api.ask<Info>('info', {}, 1)).start_ns;
	const names = new NameCache(api, () => model.emit('names'));
	const model: Model = new Model(trace, api, names);
	const studio = new Studio(model, token, fail);
	studio.start(state);
}

start().catch((error) => {
	// There is nothing to look at.
	document.documentElement.dataset.theme = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
	document.body.classList.add('refused');
	fail(error);
});
