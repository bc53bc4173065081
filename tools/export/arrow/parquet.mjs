// SPDX-License-Identifier: Apache-2.0
// parquet.mjs FOLDER TYPE FILE [MODULES]: writes the rows of one type of a data set (tsctl export --format arrow -o FOLDER) as one
// Parquet file, by DuckDB. The columns are those of the data set, and job, rank and time, which are names of folders there.
//
//     npm install @duckdb/node-api apache-arrow
//     node parquet.mjs data kernel kernels.parquet
//
// MODULES: the folder in which npm installed the two packages (default: the current one). Memory: one Arrow file.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, type, output, modules = '.'] = process.argv.slice(2);
if (!output) {
    console.error('usage: node parquet.mjs FOLDER TYPE FILE [MODULES]');
    process.exit(2);
}
const require = createRequire(resolve(modules) + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { tableFromIPC, Type } = await load('apache-arrow');
const { DuckDBDataChunk, DuckDBInstance, BIGINT, BOOLEAN, DOUBLE, INTEGER, UBIGINT, UINTEGER, VARCHAR } = await load('@duckdb/node-api');
const CHUNK = 2048;  // rows of a chunk of DuckDB

function duckdbType(type) {
    switch (type.typeId) {
    case Type.Dictionary: return VARCHAR;
    case Type.Bool: return BOOLEAN;
    case Type.Float: return DOUBLE;
    default: return type.bitWidth === 64 ? (type.isSigned ? BIGINT : UBIGINT) : (type.isSigned ? INTEGER : UINTEGER);
    }
}

function decoded(name) {
    try {
        return decodeURIComponent(name);
    } catch {
        return name;  // no UTF-8
    }
}

function* files() {
    for (const entry of readdirSync(folder, { recursive: true }).sort()) {
        const place = entry.match(/^job=([^/]+)\/rank=([^/]+)\/type=([^/]+)\/time=([^/]+)\/[^/]+\.arrow$/);
        if (place && place[3] === type)
            yield { path: join(folder, entry), names: [place[1], place[2], place[4]].map(decoded) };
    }
}

const quoted = (text, mark) => mark + text.replaceAll(mark, mark + mark) + mark;
const connection = await (await DuckDBInstance.create(':memory:')).connect();
let types, appender;
for (const file of files()) {
    const table = tableFromIPC(readFileSync(file.path));
    if (!appender) {
        const fields = table.schema.fields.map((field) => [field.name, duckdbType(field.type)]);
        const columns = [['job', VARCHAR], ['rank', VARCHAR], ['time', VARCHAR], ...fields];
        types = columns.map((column) => column[1]);
        await connection.run(`CREATE TABLE rows (${columns.map(([name, kind]) => `${quoted(name, '"')} ${kind}`).join(', ')})`);
        appender = await connection.createAppender('rows');
    }
    for (let from = 0; from < table.numRows; from += CHUNK) {
        const part = table.slice(from, from + CHUNK);
        const chunk = DuckDBDataChunk.create(types, part.numRows);
        file.names.forEach((name, i) => chunk.setColumnValues(i, Array(part.numRows).fill(name)));
        for (let i = 0; i < part.numCols; i++)
            chunk.setColumnValues(file.names.length + i, [...part.getChildAt(i)]);
        appender.appendDataChunk(chunk);
    }
}
if (!appender) {
    console.error(`${folder}: no rows of type ${type}`);
    process.exit(1);
}
appender.closeSync();
await connection.run(`COPY rows TO ${quoted(output, "'")} (FORMAT parquet, COMPRESSION zstd)`);
