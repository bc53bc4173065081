// SPDX-License-Identifier: Apache-2.0
// Unit tests of the page's modules that need neither a document nor the network: node page.mjs BUNDLE.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const page = await import(pathToFileURL(process.argv[2]).href);
const { colours, flame, fragment, frames, json, names, parameters, scale, tile, time } = page;
const tests = {};

function makeAnswer(lanes, n, level, first, flags, cells) {
	const buffer = new ArrayBuffer(32 + lanes.length * (8 + n * 256 * 16));
	const view = new DataView(buffer);
	view.setUint32(0, 0x31545354, true);
	view.setUint32(4, level, true);
	view.setBigUint64(8, BigInt(first), true);
	[n, lanes.length, 256, flags].forEach((value, i) => view.setUint32(16 + 4 * i, value, true));
	lanes.forEach((lane, i) => {
		const at = 32 + i * (8 + n * 256 * 16);
		view.setUint32(at, lane, true);
		for (const [cell, words] of cells)
			words.forEach((word, j) => view.setUint32(at + 8 + 16 * cell + 4 * j, word, true));
	});
	return buffer;
}

tests['tiles are decoded'] = () => {
	const answer = tile.decodeTiles(makeAnswer([3, 9], 2, 20, 5, 1, [[0, [7, 2, 500000, 400000]], [300, [8, 1, 0, 0]]]));
	assert.equal(answer.level, 20);
	assert.equal(answer.first, 5);
	assert.deepEqual(answer.lanes.map((lane) => lane.lane), [3, 9]);
	const [first, second] = answer.lanes[1].tiles;
	assert.deepEqual([...first.words.slice(0, 4)], [7, 2, 500000, 400000]);
	assert.deepEqual([...second.words.slice(4 * 44, 4 * 44 + 4)], [8, 1, 0, 0]);
	assert.deepEqual([first.count, second.count, first.exact, first.busy], [2, 1, false, true]);
};

tests['cells of counters have values'] = () => {
	const bits = (value) => new Uint32Array(new Float32Array([value]).buffer)[0];
	const cells = [[0, [7, 2, bits(-1.5), bits(40)]], [1, [7, 1, bits(3), bits(3)]], [2, [7, 1, bits(NaN), bits(NaN)]]];
	const [one] = tile.decodeTiles(makeAnswer([3], 1, 20, 5, 0, cells)).lanes[0].tiles;
	assert.deepEqual([0, 1, 2, 3].map((cell) => tile.valuesOf(one, cell)), [[-1.5, 40], [3, 3], undefined, undefined]);
};

tests['malformed tiles are rejected'] = () => {
	const good = makeAnswer([1], 1, 3, 0, 0, []);
	assert.equal(tile.decodeTiles(good).lanes[0].tiles[0].busy, false);
	assert.throws(() => tile.decodeTiles(good.slice(0, good.byteLength - 1)), /unexpected size/);
	assert.throws(() => tile.decodeTiles(new ArrayBuffer(10)), /not an answer/);
	assert.throws(() => tile.decodeTiles(new ArrayBuffer(64)), /not an answer/);
	const large = makeAnswer([1], 1, 60, 0, 0, []);
	assert.throws(() => tile.decodeTiles(large), /unexpected size/);
};

tests['the level has cells of about a pixel'] = () => {
	for (let i = -3; i < 40; i += 0.13) {
		const nsPerPixel = Math.pow(2, i);
		const pixels = Math.pow(2, tile.levelOf(nsPerPixel)) / nsPerPixel;
		assert.ok(i < 0 ? pixels >= 0.7 : pixels > 0.74 && pixels <= 1.51, i + ': ' + pixels);
	}
};

tests['durations have four digits'] = () => {
	for (const [ns, text] of [[0, '0 ns'], [999, '999 ns'], [1000, '1.000 µs'], [2873862, '2.874 ms'], [999960000, '1.000 s'],
		[13135126447, '13.14 s'], [123456789012, '123.5 s']])
		assert.equal(time.formatDuration(ns), text);
	assert.equal(time.formatDuration(-1500), '-1.500 µs');
};

tests['instants have the digits of a step'] = () => {
	const s = time.THIN;
	assert.equal(time.formatInstant(1200340000, 1000), '1.200' + s + '340 s');
	assert.equal(time.formatInstant(1200340007), '1.200' + s + '340' + s + '007 s');
	assert.equal(time.formatInstant(4000000000, 2e9), '4 s');
	assert.equal(time.formatInstant(500000000, 5e8), '0.5 s');
	assert.equal(time.formatInstant(-1000000, 1e6), '-0.001 s');
};

tests['times are read'] = () => {
	for (const [text, ns] of [['1.2s', 1.2e9], ['12.5 ms', 12.5e6], ['1500', 1500], ['3us', 3000], ['3 µs', 3000], ['2m', 1.2e11],
		['1,500 ns', 1500]])
		assert.equal(time.parseTime(text), ns, text);
	for (const text of ['', 'saxpy', '1.2x', 's', '1.2.3s', 'Infinity s'])
		assert.equal(time.parseTime(text), undefined, text);
	assert.equal(time.parseTime(time.formatInstant(1200340007)), 1200340007);
};

tests['steps are round'] = () => {
	for (const [least, step] of [[0.3, 1], [1, 1], [1.1, 2], [3, 5], [7, 10], [110, 200], [5e8, 5e8]])
		assert.equal(time.roundStep(least), step);
	assert.deepEqual(time.ticks(150, 520, 100), [200, 300, 400, 500]);
	assert.ok(time.ticks(0, 1e12, 1).length <= 1000);
};

tests['bytes and shares'] = () => {
	assert.equal(time.formatBytes(15), '15 B');
	assert.equal(time.formatBytes(449119906), '428.3 MiB');
	assert.equal(time.formatShare(0.0004), '<0.1 %');
	assert.equal(time.formatShare(1), '100 %');
	assert.equal(time.formatCount(1234567), '1,234,567');
};

tests['hostile names are shown as escapes'] = () => {
	assert.equal(names.clean('a\u202eb'), 'a\\u{202e}b');
	assert.equal(names.clean('a\u0000\n\u007f'), 'a\\u{0}\\u{a}\\u{7f}');
	assert.equal(names.clean('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
	assert.equal(names.clean('\ud800x'), '\\u{d800}x');
	assert.equal(names.clean('\u{1f600}'), '\u{1f600}');
	assert.equal(names.clean('\u2066\u200f'), '\\u{2066}\\u{200f}');
	assert.ok(names.clean('a' + '\u0301'.repeat(1000)).length < 10);
	assert.ok(names.clean('x'.repeat(1 << 20)).length < names.MAX_NAME + 40);
	assert.equal(names.clean('x'.repeat(100), 10), 'x'.repeat(10) + '\u2026');
	// Filters of rows: fnmatch(3).
	assert.equal(names.filterOf('scale'), '[s?]cale');
	assert.equal(names.filterOf('*f<int[4]*>\\'), '\\*[f?]<int\\[4\\]\\*>\\\\');
	assert.equal(names.filterOf('<*>'), '<\\*>*');
	assert.equal(names.filterOf('x'.repeat(names.MAX_NAME - 1) + '\u{1f600}'), 'x'.repeat(names.MAX_NAME - 1) + '*');
};

tests['names become short'] = () => {
	for (const [full, short] of [
		['saxpy', 'saxpy'], ['cudaLaunchKernel', 'cudaLaunchKernel'], ['memset to 0', 'memset to 0'],
		['void at::native::reduce_kernel<128, 4, at::X<float>>(at::X<float>)', 'reduce_kernel'],
		['void at::native::(anonymous namespace)::multi_tensor_apply_kernel<A<4>, B>(A<4>, B)', 'multi_tensor_apply_kernel'],
		['nvjet_sm90_tst_64x32_64x16_1x2_h_bz_NTT', 'nvjet_sm90_tst_64x32_64x16_1x2_h_bz_NTT'],
		['void cutlass__5x_cudnn::Kernel<cutlass_tensorop>(cutlass_tensorop::Params)', 'Kernel'],
		['f(int)::{lambda(float)#1}::operator()(float) const', 'f'],
		['bool operator< <int>(int)', 'operator<'],
	])
		assert.equal(names.shorten(full), short, full);
	assert.ok(names.shorten('f<'.repeat(100000)).length <= names.MAX_NAME);
};

tests['names have the types of parameters'] = () => {
	for (const [name, types] of [
		['saxpy', undefined], ['f()', []], ['saxpy(int, float, float const*, float*)', ['int', 'float', 'float const*', 'float*']],
		['void k<(a::b)3, std::pair<int, long> >(std::pair<int, long>, int*) [clone .part.0]', ['std::pair<int, long>', 'int*']],
		['void (anonymous namespace)::k<int (*)(int, char)>(int (*)(int, char))', ['int (*)(int, char)']],
		['void g<f(int)::{lambda(int, int)#1}>(int, f(int)::{lambda(int, int)#1})', ['int', 'f(int)::{lambda(int, int)#1}']],
		['(anonymous namespace)::k', undefined], [')', undefined],
	])
		assert.deepEqual(parameters.parameterTypes(name), types, name);
};

tests['arguments have places'] = () => {
	const places = (text, bytes) => (parameters.placeParameters(text ? text.split('; ') : [], bytes) || [])
		.map((one) => [one.offset, one.bytes, one.kind]);
	assert.deepEqual(places('int; float; float const*; float*', 24), [[0, 4, 'signed'], [4, 4, 'float'], [8, 8, 'pointer'], [16, 8, 'pointer']]);
	assert.deepEqual(places('bool; unsigned short; float4; dim3; float3; double2', 80),
		[[0, 1, 'bool'], [2, 2, 'unsigned'], [16, 16, 'float'], [32, 12, 'unsigned'], [44, 12, 'float'], [64, 16, 'float']]);
	// The sum of the sizes is another one: the types are not those of the arguments.
	assert.deepEqual(places('int; float*', 12), []);
	// A structure is what the others leave; at the end, only places that are certain are told.
	assert.deepEqual(places('int; S; float*', 40), [[0, 4, 'signed'], [4, 28, 'bytes'], [32, 8, 'pointer']]);
	assert.deepEqual(places('S; int; T', 64), [[0, 64, 'bytes']]);
	assert.deepEqual(places('S; int; int', 24), [[0, 16, 'bytes'], [16, 4, 'signed'], [20, 4, 'signed']]);
	// The int may end 4 or 0 bytes before the pointer.
	assert.deepEqual(places('S; int; float*', 24), [[0, 16, 'bytes'], [16, 8, 'pointer']]);
	assert.deepEqual(places('S', 0), []);
};

tests['values of arguments are read'] = () => {
	const data = new DataView(new ArrayBuffer(64));
	data.setInt32(0, -5, true);
	data.setFloat32(4, 0.1, true);
	data.setBigUint64(8, 0xfedcba9876543210n, true);
	data.setUint8(16, 1);
	data.setUint16(18, 0x3c01, true);
	data.setUint16(20, 0x3fc0, true);
	data.setFloat64(24, 2.5, true);
	const value = (type, offset) => parameters.valueText(data, { ...parameters.placeParameters([type], parameters.placeParameters(
		['S', type], 64)[1].bytes)[0], offset });
	assert.deepEqual([value('int', 0), value('unsigned int', 0), value('float', 4), value('char*', 8), value('long', 8), value('unsigned long', 8)],
		['-5', '4294967291', '0.100000001', '0xfedcba9876543210', '-81985529216486896', '18364758544493064720']);
	assert.deepEqual([value('bool', 16), value('__half', 18), value('__nv_bfloat16', 20), value('double', 24), value('double', 60)],
		['true', '1.0009765625', '1.5', '2.5', undefined]);
	assert.equal(value('int2', 0), '-5, ' + data.getInt32(4, true));
	assert.equal(parameters.valueText(data, { offset: 0, bytes: 4, kind: 'bytes', n: 1 }), 'fb ff ff ff');
};

tests['integers of 64 bits stay exact'] = () => {
	const value = json.parseJson('{"a": 18446744073709551615, "b": 0.22216235449000457, "c": "1234567890123456789", "d": 12, ' +
		'"e": "x\\"9999999999999999999", "f": [9007199254740993], "g": 1e300}');
	assert.deepEqual(value, { a: '18446744073709551615', b: 0.22216235449000457, c: '1234567890123456789', d: 12,
		e: 'x"9999999999999999999', f: ['9007199254740993'], g: 1e300 });
	assert.equal(json.subtract('9007199254740993', '9007199254740990'), 3);
	assert.equal(json.subtract(80375809644, 77136635447), 3239174197);
	assert.equal(json.add('9007199254740993', 1), '9007199254740994');
	assert.equal(json.add(1, 2), 3);
	assert.deepEqual(json.parseLines('{"a": 1}\n\n{"a": 2}\n'), [{ a: 1 }, { a: 2 }]);
	assert.throws(() => json.parseJson('{"a": 12345678901234567890'));
};

tests['a link keeps the view'] = () => {
	const state = { token: 'ab12', from: 10, to: 2000, lane: 3, row: 44, at: 55, op: '18446744073709551615', tab: 'gaps', colour: 'stream',
		folded: [4, 5], expanded: [6], span: [20, 30], marks: [{ ns: 5, label: 'a:b &#=?\u00e9' }, { ns: 7, label: '' }], offset: -9 };
	assert.deepEqual(fragment.parseFragment(fragment.formatFragment(state)), state);
};

tests['malformed fragments are left out'] = () => {
	const state = fragment.parseFragment('#token=<x>&from=9&to=3&lane=-x&op=1e9&tab=..%2F&folded=1..2&expanded=x&span=5..5&mark=x&mark=99999999999999999');
	for (const value of Object.values(state))
		assert.equal(value, undefined);
	assert.equal(fragment.parseFragment('#' + 'mark=1&'.repeat(10000)).marks.length, 100);
};

tests['stacks become frames'] = () => {
	const stack = { frames: ['0x10', '0x20', 'forward (/a/b/linear.py:134)', '0x30', '0x40'], hidden: [0],
		symbols: [{ frame: 1, function: 'ns::launch<int>(int)', file: '/x/y.cu', line: 9, inlined: true },
			{ frame: 1, function: 'run', module: '/lib/z.so', offset: 16 }],
		modules: [{ frame: 3, path: '/lib/q.so', offset: 255 }] };
	const list = frames.framesOf(stack);
	assert.deepEqual(list.map((frame) => [frame.text, frame.kind, frame.hidden]), [['0x10', 'unknown', true],
		['ns::launch<int>(int)', 'native', false], ['run', 'native', false], ['forward', 'python', false],
		['q.so+0xff', 'native', false], ['0x40', 'unknown', false]]);
	assert.equal(list[1].place, 'y.cu:9');
	assert.equal(list[3].place, '/a/b/linear.py:134');
	assert.equal(frames.siteOf(stack), 'forward (linear.py:134)');
	assert.equal(frames.siteOf(undefined), '');
};

tests['flame graphs are laid out'] = () => {
	const frame = (parent, name, weight, more) => ({ parent, name, kind: 'native', weight, ...more });
	// main calls f (1 + 2) and g (4); 3 callees of main are left out; "other" is a second outermost frame.
	const root = flame.flameOf([frame(0, 'main', 0), frame(1, 'f', 1), frame(2, 'k', 2), frame(1, 'g', 4), frame(0, 'other', 3),
		{ parent: 1, left_out: 3, weight: 6 }]);
	const place = (node) => [flame.nameOf(node.data), node.depth, flame.sumOf(node), Math.round(16 * node.x0), Math.round(16 * node.x1)];
	assert.deepEqual(flame.zoomTo(root).map(place), [['all', 0, 16, 0, 16], ['main', 1, 13, 0, 13], ['other', 1, 3, 13, 16], ['g', 2, 4, 0, 4],
		['f', 2, 3, 4, 7], ['3 smaller frames', 2, 6, 7, 13], ['k', 3, 2, 4, 6]]);
	const f = root.descendants().find((node) => node.data.name === 'f');
	assert.deepEqual(flame.zoomTo(f).map((node) => [node.data.name, node.x0, +node.x1.toFixed(6)]), [['all', 0, 1], ['main', 0, 1], ['f', 0, 1],
		['k', 0, 0.666667]]);
	// Zoomed out, a frame that is too narrow to be drawn has its nearest caller instead.
	const drawn = flame.zoomTo(root).filter((node) => node.data.name !== 'k');
	assert.deepEqual(f.descendants().map((node) => drawn[flame.drawnFrame(drawn, node)].data.name), ['f', 'f']);
	// And back: nothing of the zoom is left.
	assert.deepEqual(flame.zoomTo(root).map(place)[4], ['f', 2, 3, 4, 7]);
	assert.equal(flame.flameOf([]).x1, 1);
};

tests['flame graphs of deep stacks and many frames'] = () => {
	const deep = flame.flameOf(Array.from({ length: 8000 }, (_, i) => ({ parent: i, name: 'f' + i, weight: 1 })));
	assert.deepEqual([flame.zoomTo(deep).length, flame.sumOf(deep)], [8001, 8000]);
	const wide = flame.flameOf(Array.from({ length: 8000 }, (_, i) => ({ parent: 0, name: '__proto__' + i % 2, weight: String(i + 1) })));
	assert.equal(flame.sumOf(wide), 8000 * 8001 / 2);
	assert.equal(flame.zoomTo(wide)[1].data.weight, '8000');
};

tests['weights are exact'] = () => {
	assert.equal(flame.weightText('ns', 26306520, 48447000), '26.31 ms (26,306,520 ns), 54.3 %');
	assert.equal(flame.weightText('bytes', 449119906, 449119906), '428.3 MiB (449,119,906 bytes), 100 %');
	assert.equal(flame.weightText('count', 1234, 123400), '1,234, 1.0 %');
};

tests['black text is readable on each colour'] = () => {
	for (const colour of [...colours.PALETTE, ...colours.PALETTE.map(colours.muted)])
		assert.ok(colours.contrast(colour, { r: 11, g: 13, b: 16 }) >= 5, JSON.stringify(colour));
	assert.deepEqual(colours.oklch(1, 0, 0), { r: 255, g: 255, b: 255 });
	assert.deepEqual(colours.colourOf(7), colours.colourOf(7));
};

function lane(id, parent, kind, rows = 1, depth = 1) {
	return { id, parent, kind, name: kind + id, rows, depth };
}

tests['lanes fold and have places'] = () => {
	const tree = new page.LaneTree([lane(1, 0, 'process', 0), lane(2, 1, 'thread', 5, 3), lane(3, 1, 'device', 9), lane(4, 3, 'stream'),
		lane(5, 99, 'stream'), lane(6, 6, 'stream')]);
	assert.deepEqual(tree.visible.map((item) => item.info.id), [1, 3, 4, 2, 5, 6]);
	let y = 0;
	for (const item of tree.visible) {
		assert.equal(item.y, y);
		assert.equal(tree.at(y), item);
		assert.equal(tree.at(y + item.height - 1), item);
		y += item.height;
	}
	assert.equal(tree.at(y), undefined);
	tree.setFolded([3]);
	assert.deepEqual(tree.visible.map((item) => item.info.id), [1, 3, 2, 5, 6]);
	assert.equal(tree.shown(4).info.id, 3);
	tree.unfold(4);
	assert.equal(tree.shown(4).info.id, 4);
	tree.setLayer(1);
	assert.deepEqual(tree.visible.filter((item) => item.layer).map((item) => item.info.id), [4, 2, 5, 6]);
	assert.ok(tree.deepen(4, 2));
	assert.ok(!tree.deepen(4, 2));
};

tests['more than eight levels are expanded on demand'] = () => {
	const tree = new page.LaneTree([lane(1, 0, 'process', 0), lane(2, 1, 'ranges', 50, 8), lane(3, 1, 'kernel_events', 50, 2), lane(4, 1, 'thread')]);
	const [, ranges, events] = tree.visible.filter((item) => item.info.kind !== 'thread');
	assert.deepEqual([ranges.depth, page.hiddenLevels(ranges), page.hasManyLevels(ranges)], [8, 0, false]);
	// Each level has room of its own.
	assert.ok(ranges.height >= 8 * 18 && events.height >= 2 * 18);
	const height = ranges.height;
	assert.ok(tree.deepen(2, 11));
	assert.deepEqual([ranges.depth, page.hiddenLevels(ranges), page.hasManyLevels(ranges)], [8, 3, true]);
	assert.ok(ranges.height > height && ranges.height < height + 18);
	tree.expand(2, true);
	assert.deepEqual([ranges.depth, page.hiddenLevels(ranges), tree.expandedIds()], [11, 0, [2]]);
	assert.equal(ranges.height, height + 3 * 18);
	assert.equal(tree.visible[3].y, ranges.y + ranges.height + events.height);
	assert.ok(tree.deepen(2, 12) && ranges.depth === 12);
	assert.ok(!tree.update([lane(2, 1, 'ranges', 60, 9)]));
	assert.equal(ranges.depth, 12);
	// A live trace gets levels and lanes: names and buttons of lanes have to change.
	assert.ok(tree.update([lane(2, 1, 'ranges', 70, 13)]) && tree.update([lane(5, 1, 'thread')]) && !tree.update([lane(5, 1, 'thread', 9)]));
	assert.equal(ranges.depth, 13);
	tree.expand(2, false);
	assert.deepEqual([ranges.depth, page.hiddenLevels(ranges), tree.expandedIds()], [8, 5, []]);
};

tests['counters of the recorder are in a folded group'] = () => {
	const counter = (id, name, folded) => ({ ...lane(id, 1, 'counter', 4), name, folded });
	const tree = new page.LaneTree([lane(1, 0, 'process', 0), counter(2, 'loss'), counter(3, 'x', true), counter(4, 'tracesmith: rows')]);
	assert.deepEqual(tree.visible.map((item) => item.info.kind), ['process', 'counter', 'group']);
	const group = tree.visible[2];
	assert.equal(tree.shown(3), group);
	assert.deepEqual(tree.foldedIds(), [group.info.id]);
	tree.unfold(4);
	assert.deepEqual(tree.visible.slice(3).map((item) => item.info.id), [3, 4]);
	tree.fold(group);
	assert.equal(tree.visible.length, 3);
};

tests['like lanes of two traces lie side by side'] = () => {
	const second = (info, name) => ({ ...info, trace: 1, name: name || info.name });
	const named = (info, name, stream) => ({ ...info, name, stream });
	const tree = new page.LaneTree([lane(1, 0, 'process', 0), lane(2, 1, 'device', 9), named(lane(3, 2, 'stream'), 'stream 7', 7),
		named(lane(4, 1, 'thread'), 'main (thread 10)'), second(lane(11, 0, 'process', 0)), second(lane(12, 11, 'device', 9)),
		second(named(lane(13, 12, 'stream'), 'stream 13', 13)), second(named(lane(14, 12, 'stream'), 'stream 7', 7)),
		second(named(lane(15, 11, 'thread'), 'main (thread 99)'))]);
	const ids = () => tree.visible.map((item) => item.info.id);
	assert.deepEqual(ids(), [1, 11, 2, 12, 3, 14, 13, 4, 15]);
	tree.fold(tree.byId.get(12));
	assert.deepEqual(ids(), [1, 11, 2, 12, 4, 15]);
	assert.equal(tree.shown(14).info.id, 12);
	tree.unfold(14);
	tree.pair(false);
	assert.deepEqual(ids(), [1, 2, 3, 4, 11, 12, 13, 14, 15]);
};

tests['steps of a path are found by time'] = () => {
	const steps = new page.steps.Steps();
	for (let i = 0; i < 1000; i++)
		steps.push(i % 3, 10 * i, 10 * i + 10, i % 2 ? 'call' : 'compute');
	assert.equal(steps.length, 1000);
	assert.deepEqual([steps.lane[700], steps.start[700], steps.end[700], steps.partOf(700), steps.partOf(701)], [1, 7000, 7010, 'compute', 'call']);
	assert.deepEqual([-5, 0, 10, 7005, 10000].map((ns) => steps.after(ns)), [0, 0, 1, 700, 1000]);
	const list = [{ start: 3 }, { start: 3 }, { start: 8 }];
	assert.deepEqual([0, 3, 4, 9].map((start) => page.steps.firstFrom(list, start)), [0, 0, 2, 3]);
};

tests['lanes in a circle do not hang'] = () => {
	const tree = new page.LaneTree([lane(1, 2, 'thread'), lane(2, 1, 'thread')]);
	assert.equal(tree.visible.length, 0);
	tree.unfold(1);
};

tests['a level that is selected is drawn'] = () => {
	const tree = new page.LaneTree([lane(1, 0, 'ranges', 50, 4)]);
	const [ranges] = tree.visible;
	assert.ok(!tree.reveal(1, 3) && !tree.reveal(9, 3));
	assert.ok(tree.reveal(1, 5));
	assert.deepEqual([ranges.depth, tree.expandedIds()], [6, []]);
	assert.ok(tree.reveal(1, 10));
	assert.deepEqual([ranges.depth, tree.expandedIds()], [11, [1]]);
	// A level below those that are known.
	assert.ok(tree.reveal(1, 12));
	assert.deepEqual([ranges.depth, tree.expandedIds()], [13, [1]]);
	assert.ok(!tree.reveal(1, 2) && ranges.expanded);
};

tests['no gap of a view is forgotten'] = async () => {
	// A gap of 5 ns in each 10 ns. The server lists the longest, here the first ones.
	let asked = 0;
	const ask = async (_, { from, to, limit }) => {
		asked++;
		const first = Math.max(0, Math.ceil((from.ns - 4) / 10));
		const gaps = Math.max(0, Math.ceil(to.ns / 10) - first);
		return { gaps, longest: Array.from({ length: Math.min(gaps, limit) }, (_, i) => ({ start_ns: 10 * (first + i), end_ns: 10 * (first + i) + 5,
			stream: 7 })) };
	};
	const model = { view: { from: 0, to: 800000, nsPerPixel: 1 }, trace: { traces: 1 }, offsetOfTrace: () => 0, offsetOf: () => 0, api: { ask },
		findLane: () => ({ id: 3 }), relative: (ns) => ns, emit: () => {}, gaps: [] };
	let counted;
	const marks = new page.GapMarks(model, (n) => {
		counted = n;
	});
	const read = async () => {
		[counted, asked] = [undefined, 0];
		await marks.read();
		return counted;
	};
	assert.equal(await read(), 80000);
	assert.equal(await read(), 80000);
	assert.equal(asked, 0);
	Object.assign(model.view, { from: 800000, to: 1600000 });
	assert.equal(await read(), 80000);
	// Those of earlier views are kept as long as they are few.
	Object.assign(model.view, { from: 1600000, to: 1601000 });
	assert.equal(await read(), 100);
	assert.equal(model.gaps.length, 100);
	// If the trace grows while gaps are read, they are asked for again.
	Object.assign(model.view, { from: 1602000, to: 1603000 });
	model.api.ask = (...question) => (marks.forget(), ask(...question));
	assert.equal(await read(), 100);
	model.api.ask = ask;
	assert.equal(await read(), 100);
	assert.equal(asked, 1);
	assert.equal(await read(), 100);
	assert.equal(asked, 0);
	// A view with more of them lacks some, and is not asked for again.
	Object.assign(model.view, { from: 0, to: 3000000 });
	assert.ok(await read() > 50000);
	assert.equal(asked, 64);
	assert.ok(await read() > 50000);
	assert.equal(asked, 0);
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* A model whose questions about gaps take 60 ms. */
function slowGaps() {
	const questions = [];
	const ask = async (question, options, trace, signal) => {
		const own = { from: options.from.ns, to: options.to.ns, aborted: false };
		questions.push(own);
		await new Promise((resolve, reject) => {
			setTimeout(resolve, 60);
			signal.addEventListener('abort', () => {
				own.aborted = true;
				reject(new DOMException('', 'AbortError'));
			});
		});
		return { gaps: 1, longest: [{ start_ns: own.to - 10, end_ns: own.to - 5, parts: [{ cause: 'host' }] }] };
	};
	const model = { view: { from: 0, to: 1000, nsPerPixel: 1 }, trace: { traces: 1 }, offsetOfTrace: () => 0, offsetOf: () => 0, api: { ask },
		findLane: () => ({ id: 3 }), relative: (ns) => ns, emit: () => {}, gaps: [] };
	return { model, questions, marks: new page.GapMarks(model, () => {}) };
}

const ignoreAbort = (error) => assert.equal(error.name, 'AbortError');

tests['the gaps of a trace that is followed come, though an answer takes longer than a step'] = async () => {
	const { model, questions, marks } = slowGaps();
	for (let i = 0; i < 30; i++) {
		Object.assign(model.view, { from: model.view.from + 10, to: model.view.to + 10, nsPerPixel: 1 + 1e-9 * (i % 2) });
		marks.forget();
		marks.moved();
		marks.read().catch(ignoreAbort);
		await pause(20);
	}
	assert.deepEqual(questions.filter((one) => one.aborted), []);
	// The next question is about the view as it is then, and comes after a pause.
	assert.ok(questions.length >= 2 && questions.length <= 4, questions.length);
	assert.ok(questions[1].to > questions[0].to);
	assert.ok(model.gaps.length >= questions.length - 1);
	marks.stop();
};

tests['a question about gaps ends when the view is elsewhere'] = async () => {
	const { model, questions, marks } = slowGaps();
	const first = marks.read().catch(ignoreAbort);
	Object.assign(model.view, { from: 100, to: 1100 });
	marks.moved();
	assert.equal(questions[0].aborted, false);
	Object.assign(model.view, { from: 5000, to: 6000 });
	marks.moved();
	assert.equal(questions[0].aborted, true);
	assert.equal(marks.busy, false);
	await first;
	const second = marks.read();
	Object.assign(model.view, { from: 0, to: 20000, nsPerPixel: 20 });
	const third = marks.read();
	await assert.rejects(second, { name: 'AbortError' });
	await third;
	assert.deepEqual(questions.map((one) => [one.from, one.to, one.aborted]), [[0, 1000, true], [5000, 6000, true], [0, 20000, false]]);
	// A view that moves on a little is asked for after the answer, and without a pause if the trace does not grow.
	Object.assign(model.view, { from: 30000, to: 31000, nsPerPixel: 1 });
	const fourth = marks.read();
	Object.assign(model.view, { from: 30100, to: 31100 });
	await marks.read();
	await fourth;
	assert.deepEqual(questions.slice(3).map((one) => [one.from, one.to, one.aborted]), [[30000, 31000, false], [30100, 31100, false]]);
};

tests['the scale of a counter has room for infinite values'] = () => {
	const parts = (values) => {
		const own = new scale.Scale();
		values.forEach((value) => own.add(value));
		return values.map((value) => own.part(value));
	};
	assert.deepEqual(parts([0, 10, 40]), [0, 0.25, 1]);
	assert.deepEqual(parts([-10, 10]), [0, 1]);
	assert.deepEqual(parts([5, Infinity, 10]), [0.5, 1, 1]);
	assert.deepEqual(parts([-Infinity, 5, 10, Infinity]), [0, 0.5, 1, 1]);
	assert.deepEqual(parts([Infinity, 0]), [1, 0]);
	assert.deepEqual(parts([-1e308, 0, 1e308]), [0, 0.5, 1]);
	assert.deepEqual(parts([0]), [0]);
	assert.deepEqual(parts([NaN, 1, 2]), [0, 0.5, 1]);
};

tests['zoom keeps the time under the pointer'] = () => {
	const view = new page.View();
	view.setDuration(1e10);
	view.resize(1000);
	view.showAll();
	const before = view.time(700);
	view.zoom(0.1, 700);
	assert.ok(Math.abs(view.time(700) - before) < 1);
	for (let i = 0; i < 400; i++)
		view.zoom(0.5, 300);
	assert.ok(view.nsPerPixel >= 0.01);
	for (let i = 0; i < 400; i++)
		view.zoom(2, 300);
	assert.ok(view.span <= 1.05e10);
	view.pan(1e9);
	assert.ok(view.from < 1e10 && view.to > 0);
	view.reveal(5e9, 5e9 + 100);
	assert.ok(view.from < 5e9 && view.to > 5e9 + 100 && view.span < 1000);
};

tests['each key has one meaning'] = () => {
	const all = page.KEYS.flatMap((binding) => binding.keys);
	assert.equal(new Set(all).size, all.length);
	assert.equal(page.bindingOf(page.keyName({ key: 'ArrowLeft', shiftKey: true })).action, 'cursor-left');
	assert.equal(page.bindingOf(page.keyName({ key: 'N', shiftKey: true })).action, 'search-previous');
	assert.equal(page.bindingOf(page.keyName({ key: 'f', ctrlKey: true })).action, 'search');
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
	try {
		await test();
		console.log('ok: ' + name);
	} catch (error) {
		failed++;
		console.log('FAILED: ' + name + '\n' + error.stack);
	}
}
process.exitCode = failed ? 1 : 0;
