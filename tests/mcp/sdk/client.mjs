// One conversation of an official client with the server. Usage: client.mjs SDK_FOLDER CLIENT
// where CLIENT is v1, v2-legacy, v2-auto or v2-VERSION.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, which] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, 'package.json'));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

const CREDENTIAL = 'AKIA' + 'Q3EGZZ4RTM7NK2XW';
const info = { name: 'strongroom-tests', version: '1' };

async function connect() {
  const server = { command: process.env.STRONGROOM_BIN, args: ['mcp'], env: { ...process.env } };
  if (which === 'v1') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client(info, { capabilities: {} });
    await client.connect(new StdioClientTransport(server));
    return client;
  }
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const era = which.slice('v2-'.length);
  const mode = era === 'legacy' || era === 'auto' ? era : { pin: era };
  const client = new Client(info, { capabilities: {}, versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(server));
  // What the server offers is the newest; only "legacy" asks for less.
  assert.equal(client.getProtocolEra(), era === 'legacy' ? 'legacy' : 'modern');
  return client;
}

async function tools(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(),
    ['agent_forget', 'agent_recall', 'agent_remember', 'get_project_context', 'memory_edit',
      'memory_get', 'memory_link', 'recall', 'reflect', 'retain']);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const key = `from ${which}`;

  const stored = await call('agent_remember', { key, value: { list: [1, 'two'] } });
  assert.equal(stored.content[0].text, `Remembered "${key}"`);
  assert.equal(stored.structuredContent.data.revision, 1);

  const read = await call('agent_recall', { key });
  assert.deepEqual(JSON.parse(read.content[0].text),
    { ok: true, data: { key, value: { list: [1, 'two'] } } });
  assert.deepEqual(read.structuredContent.data.value, { list: [1, 'two'] });

  const secret = await call('agent_remember', { key: 'aws', value: CREDENTIAL, class: 'secret' });
  assert.ok(!secret.isError);
  const denied = await call('agent_recall', { key: 'aws' });
  assert.equal(denied.isError, true);
  assert.match(denied.content[0].text, /^Policy Denied: /);
  assert.ok(!JSON.stringify(denied).includes(CREDENTIAL));

  const context = await call('get_project_context', {});
  assert.equal(context.structuredContent.health.vault, 'open');
  assert.ok(context.structuredContent.keys.some((entry) => entry.key === key));

  const fact = `The lighthouse of ${which} clients was painted green`;
  const retained = await call('retain', { items: [{ content: fact }] });
  assert.equal(retained.content[0].text, '1 memory stored.');
  const [{ id }] = retained.structuredContent.items;
  const found = await call('recall', { query: `what colour has the lighthouse of ${which} clients?` });
  assert.ok(found.structuredContent.results.some((result) => result.id === id));
  assert.equal((await call('memory_get', { id })).content[0].text, fact);
  const gone = await call('memory_edit', { op: 'forget', id });
  assert.equal(gone.structuredContent.status, 'deleted');
  assert.equal((await call('memory_get', { id })).isError, true);

  assert.equal((await call('agent_forget', { key })).content[0].text, `Forgot "${key}"`);
  assert.equal((await call('agent_recall', { key })).isError, true);
  await assert.rejects(call('no_such_tool', {}));
}

async function resourcesAndPrompts(client) {
  const { resources } = await client.listResources();
  for (const { uri } of resources) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].uri, uri);
    assert.ok(contents[0].text);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, 'entry://{bank}/{key}');
  await assert.rejects(client.readResource({ uri: 'strongroom://nothing' }));
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts[0].name });
  assert.ok(prompt.messages[0].content.text.includes('Project context'));
}

const client = await connect();
try {
  assert.equal(client.getServerVersion().name, 'strongroom');
  assert.ok(client.getInstructions().includes('get_project_context'));
  await tools(client);
  await resourcesAndPrompts(client);
} finally {
  await client.close();
}
console.log(`ok: official client ${which}`);
