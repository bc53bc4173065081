// SPDX-License-Identifier: Apache-2.0
// Reads a file with speedscope's own importer, offline, without a browser.
//
//   node speedscope.mjs DIR FILE
//
// DIR is dist/release of the npm package `speedscope`. Prints a line of JSON: what it took the file for, and of each profile
// the name and {stack, weight}, frames from the outermost in.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const [dir, file] = process.argv.slice(2);
if (!dir || !file) {
	console.error('usage: speedscope.mjs DIR FILE');
	process.exit(2);
}
const bundle = fs.readdirSync(dir).find((name) => /^speedscope-.*\.js$/.test(name));
const code = fs.readFileSync(path.join(dir, bundle), 'utf8');
// The importer is a module of the bundle that the page loads late. What else it begins with wants a page, and fails without.
const found = /Promise\.resolve\(\)\.then\(\(\)=>\((\w+)\(\),(\w+)\)\);\w+\.then[^]*?importProfileGroupFromText/.exec(code);
const head = '"use strict";(()=>{';
if (!found || !code.startsWith(head))
	throw new Error(`${bundle}: its importer is elsewhere`);
globalThis.window = globalThis;
try {
	vm.runInThisContext(`${head}globalThis.importer=()=>(${found[1]}(),${found[2]});${code.slice(head.length)}`);
} catch (error) {
	if (!globalThis.importer)
		throw error;
}
const said = [];
console.log = (line) => said.push(line);
const group = await globalThis.importer().importProfileGroupFromText(path.basename(file), fs.readFileSync(file, 'utf8'));
const profiles = (group ? group.profiles : []).map((profile) => {
	const stack = [], samples = [];
	let last = 0;
	const take = (value) => {
		if (value > last)
			samples.push({ stack: stack.map((frame) => frame.name), weight: value - last });
		last = value;
	};
	profile.forEachCall(
		(node, value) => { take(value); stack.push(node.frame); },
		(node, value) => { take(value); stack.pop(); });
	return { name: profile.getName(), total: profile.getTotalWeight(), samples };
});
process.stdout.write(JSON.stringify({ said, profiles }) + '\n');
process.exit(0);
