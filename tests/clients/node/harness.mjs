// What the tests of all clients share: a workspace, and servers over it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const revision = '2026-07-28';

const program = process.env.MCP_DEVSERVER;
if (!program) throw new Error('MCP_DEVSERVER must name the built program');

export const workspace = mkdtempSync(join(tmpdir(), 'clients-'));
process.on('exit', () => rmSync(workspace, { recursive: true, force: true }));
mkdirSync(join(workspace, 'docs'));
mkdirSync(join(workspace, 'large'));
writeFileSync(join(workspace, 'main.go'), 'package main\n\nfunc main() {}\n');
writeFileSync(join(workspace, '.env'), 'PASSWORD=hunter2\n');
for (let i = 0; i < 50; i++) writeFileSync(join(workspace, 'docs', `${i}.md`), `page ${i} of the manual\n`);

// slow is a call that takes seconds: each line of 160 MB is given to the engine.
export const slow = { name: 'search_code', arguments: { pattern: '[a-z]+ [0-9]+ [a-z]+(?!.|$)', path: 'large' } };
const line = 'line of a file that holds words and 123 abcdefghij\n';
for (let i = 0; i < 160; i++) writeFileSync(join(workspace, 'large', `${i}.txt`), line.repeat(20_000));

// settings is all that a server gets to know; SDK clients add PATH and HOME.
export const settings = {
  MCP_SANDBOX__WORKSPACE: workspace,
  MCP_SANDBOX__OS_SANDBOX: 'auto',
  MCP_SANDBOX__ALLOW_ROOT: 'true',
  MCP_LOG__LEVEL: 'debug',
};

export const command = { command: program, args: ['serve'], env: settings, stderr: 'pipe' };

// collect keeps the log of a server: one JSON object a line.
export function collect(stream) {
  const log = { text: '' };
  stream.setEncoding('utf8');
  stream.on('data', (s) => { log.text += s; });
  // until waits for an entry that fits.
  log.until = async (fits) => {
    for (let tries = 0; tries < 2000; tries++) {
      for (const l of log.text.split('\n').slice(0, -1)) {
        const entry = l.startsWith('{') ? JSON.parse(l) : {};
        if (fits(entry)) return entry;
      }
      await pause(10);
    }
    throw new Error(`no such entry in the log:\n${log.text}`);
  };
  return log;
}

export async function freePort() {
  const s = createServer().listen(0, '127.0.0.1');
  await once(s, 'listening');
  const { port } = s.address();
  s.close();
  await once(s, 'close');
  return port;
}

// run starts a program and ends it with the test.
export function run(t, file, args, env) {
  const child = spawn(file, args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  child.stdout.resume();
  return { child, ended, log: collect(child.stderr) };
}

// answers waits until something at url answers at all.
export async function answers(url, ended) {
  let gone = false;
  ended.then(() => { gone = true; });
  for (let tries = 0; tries < 2000 && !gone; tries++) {
    try {
      return await fetch(url);
    } catch {
      await pause(10);
    }
  }
  throw new Error(`nothing answers at ${url}`);
}

// overHTTP starts a server and waits until it is ready.
export async function overHTTP(t) {
  const port = await freePort();
  const { log, ended } = run(t, program, ['serve', '--transport', 'http', '--listen', `127.0.0.1:${port}`], settings);
  const ready = await answers(`http://127.0.0.1:${port}/readyz`, ended);
  if (!ready.ok) throw new Error(`not ready: ${await ready.text()}`);
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), log };
}
