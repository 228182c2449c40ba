// What OpenAI's own SDK is told of a client's limits, and grpc-js beside it; and how it sees what was refused.
// RENGA_BIN=<folder of renga-llm-gateway> node limits.mjs; one line a check, exit 1 when one fails.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import OpenAI from 'openai'
import { SLOW, check, failure, finish, here, start } from './checks.mjs'

const folder = mkdtempSync(join(tmpdir(), 'limits-'))

process.on('exit', () => rmSync(folder, { recursive: true }))
const upstream = await start('/usr/bin/python3', [here('upstream.py')], /listening (\d+) (\S+)\n/, 'pipe')

// One that is limited in both, one in requests, one in tokens, and one that is not.
const key = name => ({ name, methods: ['renga.v1.LlmGateway/*'], sha256: createHash('sha256').update(`sk-${name}`).digest('hex') })
writeFileSync(join(folder, 'routes.json'), JSON.stringify({
  deployments: { one: { upstream: `http://127.0.0.1:${upstream.match[1]}/v1`, key: 'sk-test-0123456789' } },
  models: {
    ...Object.fromEntries(['chat', 'too-long', 'poor'].map(model => [model, { targets: [{ deployment: 'one' }] }])),
    embeds: { targets: [{ deployment: 'one' }], embeddings: true, chat: false },
  },
  clients: {
    both: { requests_per_minute: 60, tokens_per_minute: 60000 },
    slow: { requests_per_minute: 2 },
    brief: { tokens_per_minute: 5000 },
  },
}))
const gateway = await start(`${process.env.RENGA_BIN}/renga-llm-gateway`,
  ['--rpc.listen=127.0.0.1:0', '--http.listen=', '--log.format=json', '--llm_gateway.http.listen=127.0.0.1:0', '--llm_gateway.breaker=off',
    `--llm_gateway.routes=${folder}/routes.json`, `--rpc.keys=${JSON.stringify(['both', 'slow', 'brief', 'free'].map(key))}`],
  /llm_gateway\.listening.*port (\d+)/)
const sdk = name => new OpenAI({ baseURL: `http://127.0.0.1:${gateway.match[1]}/v1`, apiKey: `sk-${name}`, maxRetries: 0,
  timeout: 20000 * SLOW })
const { renga } = grpc.loadPackageDefinition(loadSync('renga/v1/llm_gateway.proto', { includeDirs: [here('../../../proto')] }))
const rpc = new renga.v1.LlmGateway(`127.0.0.1:${/rpc\.listening.*?port (\d+)/.exec(gateway.seen)[1]}`, grpc.credentials.createInsecure())
const messages = [{ role: 'user', content: 'hi' }]
const DURATION = /^(\d+ms|(\d+h)?(\d+m)?\d+(\.\d+)?s)$/

const limits = headers => Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-'))
  .map(([name, value]) => [name.slice('x-ratelimit-'.length), value]))

const began = Date.now() // each second since gives a request back

function assertBoth(told, requests) {
  assert.equal(Object.keys(told).length, 6, JSON.stringify(told))
  assert.equal(told['limit-requests'], '60')
  const back = +told['remaining-requests'] - requests
  assert(back >= 0 && back <= (Date.now() - began) / 1000, `${told['remaining-requests']} and not ${requests} are left`)
  assert.equal(told['limit-tokens'], '60000')
  assert(+told['remaining-tokens'] > 0 && +told['remaining-tokens'] < 60000, told['remaining-tokens'])
  assert.match(told['reset-requests'], DURATION)
  assert.match(told['reset-tokens'], DURATION)
}

await check('a client with limits is told them, whole, in pieces and with vectors', async () => {
  const client = sdk('both')
  const whole = await client.chat.completions.create({ model: 'chat', messages }).withResponse()
  assertBoth(limits(whole.response.headers), 59)
  const pieces = await client.chat.completions.create({ model: 'chat', messages, stream: true }).withResponse()
  assertBoth(limits(pieces.response.headers), 58)
  for await (const chunk of pieces.data) assert(chunk.id)
  const vectors = await client.embeddings.create({ model: 'embeds', input: ['a'] }).withResponse()
  assertBoth(limits(vectors.response.headers), 57)
})

const over = (name, method, request) => new Promise((resolve, reject) => {
  const metadata = new grpc.Metadata()
  metadata.set('authorization', `Bearer sk-${name}`)
  const call = rpc[method](request, metadata, ...method === 'Chat' ? [error => error && reject(error)] : [])
  call.on('metadata', initial => resolve(limits(Object.entries(initial.getMap()))))
  call.on('error', reject)
  if (method !== 'Chat') call.on('data', () => {})
})
const request = { model: 'chat', messages: [{ role: 'CHAT_ROLE_USER', content: 'hi' }] }

await check('over gRPC the same names are initial metadata', async () => {
  assertBoth(await over('both', 'Chat', request), 56)
  assertBoth(await over('both', 'ChatStream', request), 55)
  assert.deepEqual(await over('free', 'Chat', request), {})
})

await check('a client without limits is told none', async () => {
  const { response } = await sdk('free').chat.completions.create({ model: 'chat', messages }).withResponse()
  assert.deepEqual(limits(response.headers), {})
})

await check('who is over a limit is told when to come back', async () => {
  const client = sdk('slow')
  for (let i = 0; i < 2; i++) await client.chat.completions.create({ model: 'chat', messages })
  for (const stream of [false, true]) {
    const error = await failure(client.chat.completions.create({ model: 'chat', messages, stream }))
    assert(error instanceof OpenAI.RateLimitError && error.code === 'rate_limit_exceeded' && error.type === 'requests', String(error))
    const told = limits(error.headers), ms = +error.headers.get('retry-after-ms')
    assert.equal(told['limit-requests'], '2')
    assert.equal(told['remaining-requests'], '0')
    assert.equal(Object.keys(told).length, 3)
    assert(ms > 10000 && ms <= 30000, `${ms}`)
    assert.equal(+error.headers.get('retry-after'), Math.ceil(ms / 1000))
    assert.equal(error.headers.get('x-should-retry'), null)
  }
})

await check('over gRPC a refusal has the limits and the time too', async () => {
  const headers = []
  const metadata = new grpc.Metadata()
  metadata.set('authorization', 'Bearer sk-slow')
  const error = await new Promise(resolve => rpc.Chat(request, metadata, resolve)
    .on('metadata', initial => headers.push(...Object.entries(initial.getMap()))))
  const told = Object.fromEntries(headers)
  assert.equal(error.code, grpc.status.RESOURCE_EXHAUSTED)
  assert.equal(told['x-ratelimit-remaining-requests'], '0')
  assert.equal(+told['retry-after'], Math.ceil(+told['retry-after-ms'] / 1000))
  assert(+told['retry-after-ms'] > 0, JSON.stringify(told))
})

await check('a limit of tokens is one of tokens, and what can never pass is not asked again', async () => {
  const error = await failure(sdk('brief').chat.completions.create({ model: 'chat', messages, max_completion_tokens: 9000 }))
  assert(error.status === 429 && error.code === 'rate_limit_exceeded' && error.type === 'tokens', `${error.type} ${error}`)
  assert.equal(error.headers.get('retry-after'), null)
  assert.equal(error.headers.get('x-should-retry'), 'false')
})

await check('what is too long for the model and an empty account have codes of their own', async () => {
  for (const stream of [false, true]) {
    const long = await failure(sdk('free').chat.completions.create({ model: 'too-long', messages, stream }))
    assert(long instanceof OpenAI.BadRequestError && long.code === 'context_length_exceeded' && long.param === 'messages',
      `${long.code} ${long.param}`)
    const poor = await failure(sdk('free').chat.completions.create({ model: 'poor', messages, stream }))
    assert(poor instanceof OpenAI.RateLimitError && poor.code === 'insufficient_quota', `${poor.code}`)
  }
})

finish()
