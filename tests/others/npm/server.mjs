// A server on the official TypeScript SDK, for make conform-others: a tool that
// greets and one that fails, over stdio or HTTP (node server.mjs PORT).
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { McpServer, createMcpHandler, validateOriginHeader, localhostAllowedOrigins } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

function build() {
  const server = new McpServer({ name: 'npm', version: '1' });
  server.registerTool('greet', {
    description: 'say hi',
    inputSchema: z.object({ name: z.string() }),
    outputSchema: z.object({ greeting: z.string() }),
    annotations: { readOnlyHint: true },
  }, async ({ name }) => {
    const answer = { greeting: `Hi ${name}` };
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  });
  server.registerTool('fail', { description: 'fail always', annotations: { readOnlyHint: true } }, async () => {
    throw new Error('this tool fails always');
  });
  return server;
}

const port = process.argv[2];
if (port === undefined) {
  serveStdio(build);
} else {
  const handler = createMcpHandler(build);
  createServer(async (incoming, outgoing) => {
    const headers = new Headers();
    for (let i = 0; i < incoming.rawHeaders.length; i += 2) headers.append(incoming.rawHeaders[i], incoming.rawHeaders[i + 1]);
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const request = new Request(`http://127.0.0.1:${port}${incoming.url}`, {
      method: incoming.method, headers, signal: gone.signal, ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    });
    try {
      // The handler leaves Origin to whoever embeds it; the package has the check.
      const origin = validateOriginHeader(headers.get('origin'), localhostAllowedOrigins());
      const response = origin.ok === false ? new Response(null, { status: 403 }) : await handler.fetch(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) {
        for await (const part of response.body) outgoing.write(part);
      }
      outgoing.end();
    } catch (error) {
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    }
  }).listen(Number(port), '127.0.0.1');
}
