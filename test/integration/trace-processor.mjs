// SPDX-License-Identifier: Apache-2.0
// Asks Perfetto's own trace processor, compiled to WebAssembly, about a trace file: offline, without a browser.
//
//   node trace-processor.mjs DIR TRACE ['SQL' ...]
//
// DIR holds trace_processor.wasm, engine_bundle.node.js and engine.mjs. Prints a line of JSON with what the processor found
// wrong ("errors": every row of its `stats` table above info; a valid trace has none), then one for each statement.
import fs from 'node:fs';
import vm from 'node:vm';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dirArg, trace, ...statements] = process.argv.slice(2);
if (!dirArg || !trace) {
	console.error('usage: trace-processor.mjs DIR TRACE [SQL ...]');
	process.exit(2);
}
const dir = path.resolve(dirArg);
const { EngineBase } = await import(pathToFileURL(path.join(dir, 'engine.mjs')).href);

// The bundle expects a web worker: give it the few globals it looks for, and its WASM as bytes.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, 'location', { value: { href: pathToFileURL(dir + '/').href }, configurable: true });
globalThis.__wasm = new Uint8Array(fs.readFileSync(path.join(dir, 'trace_processor.wasm')));
const bundle = fs.readFileSync(path.join(dir, 'engine_bundle.node.js'), 'utf8')
	.replace('this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;')
	.replace('locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.__wasm,')
	.replace('const wasmBridge = new wasm_bridge_1.WasmBridge();',
		'const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.__bridge = wasmBridge;');
vm.runInThisContext(bundle);

const channel = new MessageChannel();
globalThis.__bridge.initialize(channel.port1);
class Engine extends EngineBase {
	mode = 'WASM';
	id = 'offline';
	constructor(port) {
		super();
		this.port = port;
		port.onmessage = (m) => this.onRpcResponseBytes(m.data);
	}
	rpcSendRequestBytes(data) { this.port.postMessage(data); }
	[Symbol.dispose]() {}
}
const engine = new Engine(channel.port2);
await new Promise((resolve) => setTimeout(resolve, 1500));

const bytes = fs.readFileSync(trace);
const begin = performance.now();
for (let i = 0; i < bytes.length; i += 32 << 20)
	await engine.parse(new Uint8Array(bytes.subarray(i, Math.min(bytes.length, i + (32 << 20)))));
await engine.notifyEof();
const seconds = (performance.now() - begin) / 1e3;

async function rows(sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	const out = [];
	for (const it = result.iter({}); it.valid(); it.next())
		out.push(Object.fromEntries(columns.map((c) => [c, typeof it.get(c) === 'bigint' ? Number(it.get(c)) : it.get(c)])));
	return out;
}
const [slices] = await rows('select count(*) n from slice');
const [flows] = await rows('select count(*) n from flow');
const errors = await rows("select name, value from stats where severity != 'info' and value > 0");
console.log(JSON.stringify({ bytes: bytes.length, parse_s: seconds, slices: slices.n, flows: flows.n, errors }));
for (const sql of statements)
	console.log(JSON.stringify({ sql, rows: await rows(sql) }));
process.exit(0);
