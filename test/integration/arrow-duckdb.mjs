// SPDX-License-Identifier: Apache-2.0
// arrow-duckdb.mjs MODULES columns FOLDER: each file's columns by apache-arrow and by DuckDB, a line of JSON each.
// arrow-duckdb.mjs MODULES totals FOLDER: {name: [launches, ns]} of all kernels, by DuckDB.
// arrow-duckdb.mjs MODULES parquet FILE: the same, from a Parquet file.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, question, folder] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const SUM = 'SELECT name, count(*)::INTEGER AS n, sum(end_ns - start_ns)::BIGINT AS ns FROM kernel GROUP BY name';
// Numbers of 32 and 64 bits as digits, so that no reader rounds them; a double stays.
const plain = (value, isDouble) => value === undefined || value === null ? null :
    typeof value === 'bigint' || (typeof value === 'number' && !isDouble) ? String(value) : value;
const print = (rows) => console.log(JSON.stringify(Object.fromEntries(rows.map((row) => [row.name, [Number(row.n), Number(row.ns)]]))));

async function wasm() {
    const duckdb = require('@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs');
    const dist = dirname(require.resolve('@duckdb/duckdb-wasm/dist/duckdb-eh.wasm'));
    const bundle = (name) => ({ mainModule: `${dist}/duckdb-${name}.wasm`, mainWorker: '' });
    const db = await duckdb.createDuckDB({ mvp: bundle('mvp'), eh: bundle('eh') }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
    await db.instantiate(() => {});
    return db.connect();
}

const paths = () => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.arrow')).map((name) => join(folder, name));

if (question === 'parquet') {
    const { DuckDBInstance } = await load('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(`CREATE VIEW kernel AS SELECT * FROM read_parquet('${folder}')`);
    print((await connection.runAndReadAll(SUM)).getRowObjects());
} else if (question === 'totals') {
    const connection = await wasm();
    let create = true;
    for (const path of paths().filter((name) => name.includes('/type=kernel/'))) {
        // DuckDB takes a stream: the file behind its first eight bytes.
        connection.insertArrowFromIPCStream(readFileSync(path).subarray(8), { name: 'kernel', create });
        create = false;
    }
    print(connection.query(SUM).toArray());
} else {
    const { tableFromIPC } = await load('apache-arrow');
    const connection = await wasm();
    for (const path of paths()) {
        const table = tableFromIPC(readFileSync(path));
        connection.insertArrowFromIPCStream(readFileSync(path).subarray(8), { name: 'one', create: true });
        const columns = (rows) => Object.fromEntries(table.schema.fields.map((field) => {
            const isDouble = String(field.type) === 'Float64';
            return [field.name, [...rows.getChild(field.name)].map((value) => plain(value, isDouble))];
        }));
        const found = { path, arrow: columns(table), duckdb: columns(connection.query('SELECT * FROM one')) };
        connection.query('DROP TABLE one');
        console.log(JSON.stringify(found));
    }
}
