// SPDX-License-Identifier: Apache-2.0
// mcp-client.mjs MODULES TSCTL FOLDER TRACE: asks `tsctl mcp` by the protocol's public client library, and prints what it got as JSON.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, tsctl, folder, trace] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');

const client = new Client({ name: 'test', version: '1' });
await client.connect(new StdioClientTransport({ command: tsctl, args: ['mcp', folder] }));
const { tools } = await client.listTools();
const answers = {};
for (const name of ['list_traces', 'info', 'analyze', 'gaps', 'timeline', 'memory', 'critical_path', 'sums', 'view']) {
    const answer = await client.callTool({ name, arguments: name === 'list_traces' ? {} : { trace } });
    answers[name] = { isError: answer.isError, text: answer.content.map((item) => item.text).join('\n') };
}
await client.ping();
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), tools: tools.map((tool) => tool.name), answers }));
