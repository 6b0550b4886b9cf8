// A client of earlier revisions is told what to do, and a bridge lets it in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { answers, collect, command, freePort, overHTTP, revision, run, settings } from './harness.mjs';

const fresh = () => new Client({ name: 'legacy', version: '1' });

// told checks that the message alone says what helps: it is all that most clients show.
function told(error) {
  for (const words of [revision, 'no initialize handshake', 'mcp-remote --protocol auto', 'mcp-proxy --upstreamProtocol auto']) {
    assert.ok(error.message.includes(words), `${words} is not in: ${error.message}`);
  }
  return true;
}

// The client waits for an answer with the id of its request; it would otherwise end with its timeout.
const impatient = { timeout: 10_000 };

test('@modelcontextprotocol/sdk over stdio', async (t) => {
  const transport = new StdioClientTransport(command);
  const log = collect(transport.stderr);
  const client = fresh();
  t.after(() => transport.close());
  const refused = [];
  await assert.rejects(client.connect(transport, impatient), (e) => {
    refused.push(e);
    return told(e);
  });
  assert.equal(refused[0].code, -32022);
  assert.deepEqual(refused[0].data.supported, [revision]);
  assert.equal(typeof refused[0].data.requested, 'string');
  await log.until((e) => e.level === 'warn' && e.message.includes(revision));
});

test('@modelcontextprotocol/sdk over HTTP', async (t) => {
  const { url, log } = await overHTTP(t);
  for (let i = 0; i < 2; i++) { // it goes on serving
    const client = fresh();
    await assert.rejects(client.connect(new StreamableHTTPClientTransport(url), impatient), told);
    await client.close();
  }
  await log.until((e) => e.level === 'warn' && e.message.includes(revision));
});

test('@modelcontextprotocol/sdk through mcp-proxy', async (t) => {
  const port = await freePort();
  const proxy = fileURLToPath(new URL('node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs', import.meta.url));
  const { ended } = run(t, process.execPath,
    [proxy, '--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--upstreamProtocol', 'auto', '--', command.command, ...command.args], settings);
  await answers(`http://127.0.0.1:${port}/ping`, ended);
  const client = fresh();
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)), impatient);
  t.after(() => client.close());
  assert.equal((await client.listTools()).tools.length, 7);
  const read = await client.callTool({ name: 'read_file', arguments: { path: 'main.go' } });
  assert.match(read.content[0].text, /func main/);
  const denied = await client.callTool({ name: 'read_file', arguments: { path: '../x' } });
  assert.equal(denied.isError, true);
  assert.equal(denied.structuredContent.error, 'outside_workspace');
});
