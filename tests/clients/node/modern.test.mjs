// The official TypeScript client, pinned to the one revision, over both transports.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { collect, command, overHTTP, revision, slow } from './harness.mjs';

const names = ['project_overview', 'list_directory', 'search_code', 'find_symbol', 'read_file', 'git_log', 'git_diff'];

const transports = {
  stdio: async () => {
    const transport = new StdioClientTransport(command);
    return { transport, log: collect(transport.stderr) };
  },
  http: async (t) => {
    const { url, log } = await overHTTP(t);
    return { transport: new StreamableHTTPClientTransport(url), log };
  },
};

for (const [name, open] of Object.entries(transports)) {
  describe(`@modelcontextprotocol/client over ${name}`, () => {
    // connect returns a client that fails the test for whatever it finds wrong with a message.
    async function connect(t, mode = { pin: revision }) {
      const { transport, log } = await open(t);
      const client = new Client({ name: 'clients', version: '1' }, { versionNegotiation: { mode } });
      const complaints = [];
      client.onerror = (e) => complaints.push(e);
      await client.connect(transport);
      t.after(async () => {
        await client.close();
        assert.deepEqual(complaints, []);
      });
      return { client, log, complaints };
    }

    test('discover', async (t) => {
      const { client } = await connect(t);
      assert.equal(client.getServerVersion().name, 'mcp-devserver');
      assert.deepEqual(client.getServerCapabilities(), { tools: {} });
      assert.match(client.getInstructions(), /project_overview/);
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
    });

    test('a client that may choose finds the revision', async (t) => {
      const { client } = await connect(t, 'auto');
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.equal((await client.listTools()).tools.length, names.length);
    });

    test('list', async (t) => {
      const { client } = await connect(t);
      const list = await client.listTools();
      assert.deepEqual(list.tools.map((tool) => tool.name), names);
      assert.equal(list.nextCursor, undefined);
      assert.ok(list.ttlMs > 0);
      for (const tool of list.tools) assert.equal(tool.outputSchema.type, 'object');
    });

    // The client checks structuredContent against the schema that it listed.
    test('call', async (t) => {
      const { client } = await connect(t);
      await client.listTools();
      const r = await client.callTool({ name: 'read_file', arguments: { path: 'main.go' } });
      assert.ok(!r.isError);
      assert.match(r.content[0].text, /func main/);
      assert.equal(r.structuredContent.path, 'main.go');
      for (const tool of ['project_overview', 'list_directory']) assert.ok(!(await client.callTool({ name: tool })).isError);
    });

    test('denial', async (t) => {
      const { client } = await connect(t);
      await client.listTools();
      for (const [path, code] of [['../../etc/passwd', 'outside_workspace'], ['.env', 'denied_path'], ['main.gp', 'not_found']]) {
        const r = await client.callTool({ name: 'read_file', arguments: { path } });
        assert.equal(r.isError, true);
        assert.equal(r.structuredContent.error, code);
        assert.ok(r.content[0].text.endsWith(r.structuredContent.remedy));
      }
    });

    test('invalid arguments and an unknown tool', async (t) => {
      const { client } = await connect(t);
      await assert.rejects(client.callTool({ name: 'read_file', arguments: { path: 'main.go', start_line: 0 } }),
        (e) => e.code === -32602 && /start_line/.test(e.message) && e.data.violations[0].pointer === '/start_line');
      await assert.rejects(client.callTool({ name: 'read_file', arguments: {} }), (e) => e.code === -32602 && /path/.test(e.message));
      await assert.rejects(client.callTool({ name: 'write_file', arguments: {} }), (e) => e.code === -32602 && /write_file/.test(e.message));
    });

    test('progress', async (t) => {
      const { client } = await connect(t);
      const seen = [];
      await client.callTool(slow, { onprogress: (p) => seen.push(p) });
      assert.ok(seen.length > 0, 'no progress came');
      for (const [i, p] of seen.entries()) {
        assert.ok(i === 0 || p.progress > seen[i - 1].progress, `progress ${p.progress} after ${seen[i - 1]?.progress}`);
        assert.match(p.message, i === 0 ? /^started$/ : /^(listing|searching) \d+( of \d+)?$/);
      }
    });

    // The client drops progress that it reads together with the answer, and says so: the answer still counts.
    test('progress of calls that are over at once', async (t) => {
      const { client, complaints } = await connect(t);
      let seen = 0;
      for (let i = 0; i < 20; i++) {
        const r = await client.callTool({ name: 'read_file', arguments: { path: 'main.go' } }, { onprogress: () => { seen++; } });
        assert.match(r.content[0].text, /func main/);
      }
      const dropped = complaints.splice(0);
      for (const e of dropped) assert.match(e.message, /^Received a progress notification for an unknown token/);
      assert.equal(seen + dropped.length, 20);
    });

    // The call is known to run, because it has reported progress.
    test('cancel', async (t) => {
      const { client, log } = await connect(t);
      const abort = new AbortController();
      await assert.rejects(client.callTool(slow, { signal: abort.signal, onprogress: (p) => p.progress > 0 && abort.abort('enough') }));
      await log.until((e) => e.tool === slow.name && e.outcome === 'none');
      assert.ok(!(await client.callTool({ name: 'list_directory' })).isError);
    });

    test('cancel after the answer', async (t) => {
      const { client } = await connect(t);
      const abort = new AbortController();
      await client.callTool({ name: 'list_directory' }, { signal: abort.signal });
      abort.abort();
      await client.notification({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'late' } });
      assert.ok(!(await client.callTool({ name: 'list_directory' })).isError);
    });

    test('fifty calls at once, each with its own answer', async (t) => {
      const { client } = await connect(t);
      const calls = Array.from({ length: 50 }, async (_, i) => {
        const r = await client.callTool({ name: 'read_file', arguments: { path: `docs/${i}.md` } });
        assert.match(r.content[0].text, new RegExp(`page ${i} of the manual`));
      });
      await Promise.all(calls);
    });

    test('what is not offered is refused at once', async (t) => {
      const { client, complaints } = await connect(t);
      for (const method of ['resources/list', 'prompts/list']) {
        await assert.rejects(client.request({ method, params: {} }), new RegExp(`Method not found: ${method}`));
      }
      // Over HTTP the client complains about the status 404, which the specification demands.
      for (const c of complaints.splice(0)) assert.equal(c.data.status, 404);
      assert.ok(!(await client.callTool({ name: 'list_directory' })).isError);
    });
  });
}
