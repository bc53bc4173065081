// SPDX-License-Identifier: Apache-2.0
// node parquet.mjs MODULES FOLDER: runs FOLDER/load.sql there, by the DuckDB in the folder MODULES, which npm installed.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [modules, folder] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(modules, 'package.json'))('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
process.chdir(folder);
for (const statement of readFileSync('load.sql', 'utf8').split('\n').filter(Boolean))
	await connection.run(statement);
