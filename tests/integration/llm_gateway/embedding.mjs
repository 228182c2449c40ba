// Embeddings as others meet them: OpenAI's own SDK at the OpenAI HTTP interface, grpc-js beside it, @copilotkit/aimock and a scripted
// upstream behind. RENGA_BIN=<folder of renga-llm-gateway> node embedding.mjs; one line a check, exit 1 when one fails.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { existsSync } from 'node:fs'
import assert from 'node:assert/strict'
import grpc from '@grpc/grpc-js'
import OpenAI from 'openai'
import { check, children, embed, freePort, here, open, outcome } from './gateway.mjs'

const { OK, NOT_FOUND, RESOURCE_EXHAUSTED, UNAVAILABLE } = grpc.status
const DOOR = '--llm_gateway.http.listen=127.0.0.1:0'
const doorOf = log => new OpenAI({ baseURL: `http://127.0.0.1:${/llm_gateway\.listening.*?port (\d+)/.exec(log)[1]}/v1`, apiKey: 'any',
  maxRetries: 0, timeout: 60000 })
const failure = async promise => (await promise.then(value => ({ value }), error => ({ error }))).error

// ---- a scripted upstream: what it is asked, and every float by its bits ----

// All kinds of floats: zeros of both signs, the smallest and the largest, and such as embeddings have.
const BITS = new Uint32Array(1536)
BITS.set([0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3dcccccd, 0x3eaaaaab])
for (let i = 9, x = 88172645; i < BITS.length; i++) {
  x ^= x << 13, x ^= x >>> 17, x ^= x << 5
  BITS[i] = (x & 0x807fffff) | ((0x78 + (x >>> 24) % 8) << 23)
}
const FLOATS = Array.from(new Float32Array(BITS.buffer))
const bitsOf = numbers => Array.from(new Uint32Array(Float32Array.from(numbers).buffer))
const asked = []
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks))
  asked.push({ url: request.url, headers: request.headers, body })
  const numbers = '[' + FLOATS.map(value => Object.is(value, -0) ? '-0' : String(value)).join() + ']' // JSON has no -0 for stringify
  const answer = request.url === '/api/embed'
    ? { model: body.model, embeddings: body.input.map(() => 'NUMBERS'), prompt_eval_count: 5 }
    : { object: 'list', model: body.model, usage: { prompt_tokens: 5, total_tokens: 5 },
        data: body.input.map((_, index) => ({ object: 'embedding', index,
          embedding: body.encoding_format === 'base64' ? Buffer.from(BITS.buffer).toString('base64') : 'NUMBERS' })) }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer).replaceAll('"NUMBERS"', numbers))
})
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const scripted = `http://127.0.0.1:${server.address().port}`

for (const [name, provider, base, path, form, more] of [
  ['OpenAI', 'openai', '/v1', '/v1/embeddings', undefined],
  ['Azure v1', 'azure', '', '/openai/v1/embeddings', 'base64'],
  ['Azure classic', 'azure', '', '/openai/deployments/m/embeddings?api-version=2024-10-21', 'base64', ['--llm_gateway.api_version=2024-10-21']],
  ['Ollama', 'ollama', '', '/api/embed', undefined]]) {
  const client = doorOf(await open(provider, scripted + base, ['m'], [DOOR, ...more ?? []]))

  await check(name + ': floats arrive to the bit over gRPC and through the OpenAI HTTP interface, in base64 and as numbers', async () => {
    const { response, error } = await embed({ model: 'm', inputs: ['old', 'pond'], dimensions: BITS.length })
    assert(response, error?.message)
    const { url, headers, body } = asked.at(-1)
    assert.equal(url, path)
    assert.equal(headers.authorization ?? headers['api-key'], provider === 'azure' ? 'sk-scripted-0123' : 'Bearer sk-scripted-0123')
    assert.deepEqual([body.input, body.encoding_format, body.dimensions], [['old', 'pond'], form, BITS.length])
    assert.deepEqual(response.embeddings.map(({ values }) => bitsOf(values)), [Array.from(BITS), Array.from(BITS)])
    assert.equal(response.usage.input_tokens, 5)
    for (const encoding_format of [undefined, 'base64', 'float']) {
      const list = await client.embeddings.create({ model: 'm', input: ['old', 'pond'], encoding_format })
      for (const [index, element] of list.data.entries()) {
        assert.equal(element.index, index)
        const bits = encoding_format === 'base64' // the SDK decodes only where it asked for base64 by itself
          ? Array.from(new Uint32Array(Uint8Array.from(Buffer.from(element.embedding, 'base64')).buffer)) : bitsOf(element.embedding)
        assert.deepEqual(bits, Array.from(BITS), String(encoding_format))
      }
      assert.deepEqual([list.object, list.model, list.usage], ['list', 'm', { prompt_tokens: 5, total_tokens: 5 }])
    }
  })
}

await check('the SDK is told what is wrong by name, and what fails by kind', async () => {
  const client = doorOf(await open('openai', scripted + '/v1', ['m'], [DOOR]))
  const wrong = more => failure(client.embeddings.create({ model: 'm', input: 'pond', ...more }))
  for (const [more, param] of [[{ input: [1, 2] }, 'input[0]'], [{ input: [[1], [2]] }, 'input[0]'], [{ input: ['a', ''] }, 'input[1]'],
    [{ input: [] }, 'input'], [{ input: '' }, 'input[0]'], [{ dimensions: 9999 }, 'dimensions'], [{ encoding_format: 'int8' }, 'encoding_format'],
    [{ input: Array(2000).fill('a'), dimensions: 501 }, 'input']]) {
    const error = await wrong(more)
    assert(error instanceof OpenAI.BadRequestError && error.param === param, `${param}: ${error?.param} ${error}`)
  }
  assert((await wrong({ model: 'nix' })) instanceof OpenAI.NotFoundError)
  const error = await wrong({ dimensions: 8 })
  assert(error instanceof OpenAI.InternalServerError && error.code === 'data_loss' && /1536 numbers where 8/.test(error.message), String(error))
  const one = await client.embeddings.create({ model: 'm', input: '池', user: 'basho' })
  assert.equal(one.data.length, 1)
  assert.deepEqual(asked.at(-1).body.input, ['池'])
})

await check('a provider without embeddings has none', async () => {
  const client = doorOf(await open('anthropic', scripted, ['m'], [DOOR]))
  const { code, error } = await embed({ model: 'm', inputs: ['pond'] })
  assert(code === NOT_FOUND && /anthropic/.test(error.details), `${code} ${error?.details}`)
  assert((await failure(client.embeddings.create({ model: 'm', input: 'pond' }))) instanceof OpenAI.NotFoundError)
})

// ---- an upstream that others wrote ----

const llmock = process.env.LLMOCK ?? here('../node_modules/.bin/llmock')
if (!existsSync(llmock)) {
  console.log('# aimock is not installed: skipped')
  process.exit(outcome.failures ? 1 : 0)
}
const port = await freePort()
children.push(spawn(process.execPath, [llmock, '-p', port, '-f', here('aimock_fixtures.json'), '--log-level', 'silent'], { stdio: 'ignore' }))
const aimock = `http://127.0.0.1:${port}`
for (let i = 0; i < 100 && !await fetch(`${aimock}/v1/models`).then(() => true, () => false); i++)
  await new Promise(resolve => setTimeout(resolve, 100))

// aimock has numbers alone, whatever encoding_format says, and of Ollama's one vector alone.
for (const [name, provider, base, path, more] of [['OpenAI', 'openai', '/v1', '/v1/embeddings'], ['Azure v1', 'azure', '', '/openai/v1/embeddings'],
  ['Azure classic', 'azure', '', '/openai/deployments/embeds/embeddings?api-version=2024-10-21', ['--llm_gateway.api_version=2024-10-21']],
  ['Ollama', 'ollama', '', '/api/embed']]) {
  const models = more ? ['embeds'] : ['embeds', 'limited', 'failing']
  const client = doorOf(await open(provider, aimock + base, models, [DOOR, ...more ?? []]))

  await check(`aimock, ${name}: what comes through the gateway is what it says itself`, async () => {
    const input = ['古池や', 'an old pond'].slice(0, provider === 'ollama' ? 1 : 2)
    const direct = await (await fetch(aimock + path, { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'embeds', input }) })).json()
    const own = (direct.data?.map(({ embedding }) => embedding) ?? [direct.embedding]).map(bitsOf)
    assert(own.length === input.length && own[0].length > 0, JSON.stringify(direct).slice(0, 200))
    const { response, error } = await embed({ model: 'embeds', inputs: input })
    assert(response, error?.message)
    assert.deepEqual(response.embeddings.map(({ values }) => bitsOf(values)), own)
    assert.equal(response.answered_by.provider, provider)
    const list = await client.embeddings.create({ model: 'embeds', input })
    assert.deepEqual(list.data.map(({ embedding }) => bitsOf(embedding)), own)
  })

  if (!more)
    await check(`aimock, ${name}: errors have their codes`, async () => {
      for (const [model, code] of [['limited', RESOURCE_EXHAUSTED], ['failing', UNAVAILABLE]]) {
        const answer = await embed({ model, inputs: ['pond'] })
        assert.equal(answer.code, code, answer.error?.details)
      }
    })
}

process.exit(outcome.failures ? 1 : 0)
