// The gateway before an upstream that others wrote: @copilotkit/aimock (npm), asked with @grpc/grpc-js.
// RENGA_BIN=<folder of renga-llm-gateway> node aimock.mjs; one line a check, exit 1 when one fails.
// Without aimock in tests/integration/node_modules there is nothing to check.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const llmock = process.env.LLMOCK ?? here('../node_modules/.bin/llmock')
if (!existsSync(llmock)) {
  console.log('# aimock is not installed: skipped')
  process.exit(0)
}
const MODELS = ['chat', 'limited', 'failing', 'garbled', 'dropped', 'truncated', 'cut', 'paced']
const { OK, RESOURCE_EXHAUSTED, UNAVAILABLE, DATA_LOSS } = grpc.status
const children = []
let failures = 0

const freePort = () => new Promise(resolve => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

function start(command, args, sign) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    let seen = ''
    const look = text => {
      seen += text
      if (seen.includes(sign)) resolve(seen)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.on('exit', code => reject(new Error(`${command} ended with ${code}: ${seen}`)))
  })
}

async function answers(url) {
  for (let i = 0; i < 100; i++) {
    if (await fetch(url).then(() => true, () => false)) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`${url} does not answer`)
}

async function check(sentence, test) {
  try {
    await test()
    console.log(`ok - ${sentence}`)
  } catch (error) {
    failures++
    console.log(`not ok - ${sentence}: ${error.message.replace(/\s+/g, ' ')}`)
  }
}

function expect(holds, what) {
  if (!holds) throw new Error(what)
}

process.on('exit', () => children.forEach(child => child.kill()))
const upstreamPort = await freePort()
children.push(spawn(process.execPath, [llmock, '-p', upstreamPort, '-f', here('aimock_fixtures.json'), '--log-level', 'silent'],
  { stdio: 'ignore' }))
await answers(`http://127.0.0.1:${upstreamPort}/v1/models`)
const log = await start(`${process.env.RENGA_BIN}/renga-llm-gateway`,
  ['--rpc.listen=127.0.0.1:0', '--http.listen=', '--log.format=json', '--llm_gateway.key=sk-aimock-0123456',
    `--llm_gateway.upstream=http://127.0.0.1:${upstreamPort}/v1`, `--llm_gateway.models=${MODELS}`,
    '--llm_gateway.idle_timeout=2s'], 'rpc.listening')
const port = /port (\d+)/.exec(log)[1]
const { renga } = grpc.loadPackageDefinition(loadSync('renga/v1/llm_gateway.proto',
  { includeDirs: [here('../../../proto')], keepCase: true, longs: Number, enums: String, oneofs: true, defaults: true }))
const gateway = new renga.v1.LlmGateway(`127.0.0.1:${port}`, grpc.credentials.createInsecure())
const options = () => ({ deadline: Date.now() + 10000 })
const asked = (model, more = {}) => ({ model, messages: [{ role: 'CHAT_ROLE_USER', content: '連歌とは?' }], ...more })

const chat = request => new Promise(resolve =>
  gateway.Chat(request, new grpc.Metadata(), options(), (error, response) => resolve({ code: error?.code ?? OK, error, response })))
const stream = request => new Promise(resolve => {
  const events = []
  gateway.ChatStream(request, new grpc.Metadata(), options()).on('data', event => events.push(event)).on('error', () => {})
    .on('status', status => resolve({ code: status.code, details: status.details, events, last: events.at(-1),
      text: events.map(event => event.text ?? '').join('') }))
})

const WEATHER = { tools: [{ name: 'get_weather', parameters_json: '{"type":"object","properties":{"city":{"type":"string"}}}' }] }

await check('a question is answered, whole and in pieces, with the same words', async () => {
  const { response, error } = await chat(asked('chat'))
  expect(response?.message.content === 'Hello from an upstream that others wrote.', error?.message ?? JSON.stringify(response))
  const streamed = await stream(asked('chat'))
  expect(streamed.code === OK && streamed.text === response.message.content, JSON.stringify(streamed))
  expect(streamed.last.finish.finish_reason === 'FINISH_REASON_STOP', JSON.stringify(streamed.last))
})

await check('a tool is called, answered, and the conversation goes on', async () => {
  for (const how of [chat, stream]) {
    const first = await how(asked('chat', WEATHER))
    const deltas = (first.events ?? []).filter(event => event.event === 'tool_call').map(event => event.tool_call)
    const call = first.response?.message.tool_calls[0] ??
      { id: deltas[0].id, name: deltas[0].name, arguments_json: deltas.map(delta => delta.arguments_json).join('') }
    expect(call.name === 'get_weather' && JSON.parse(call.arguments_json).city === '京都', JSON.stringify(call))
    const next = asked('chat', WEATHER)
    next.messages.push({ role: 'CHAT_ROLE_ASSISTANT', tool_calls: [call] },
      { role: 'CHAT_ROLE_TOOL', tool_call_id: call.id, content: '21 °C' })
    const second = await how(next)
    const text = second.text ?? second.response?.message.content
    expect(text === 'It is 21 degrees in Kyoto.', second.error?.message ?? JSON.stringify(second))
  }
})

await check('an answer after a schema is given as JSON', async () => {
  const { response, error } = await chat(asked('chat', { response_format: { kind: 'RESPONSE_FORMAT_KIND_JSON_SCHEMA', name: 'verdict',
    schema_json: '{"type":"object","properties":{"answer":{"type":"string"},"score":{"type":"integer"}}}' } }))
  expect(JSON.parse(response?.finish.structured_json ?? 'null')?.score === 7, error?.message ?? JSON.stringify(response))
})

await check('a paced stream comes whole', async () => {
  const { code, text, details } = await stream(asked('paced'))
  expect(code === OK && text.startsWith('古池や'), details)
})

for (const [model, code] of [['limited', RESOURCE_EXHAUSTED], ['failing', UNAVAILABLE]])
  await check(`'${model}' is refused alike, whole and in pieces`, async () => {
    for (const how of [chat, stream]) {
      const answer = await how(asked(model))
      expect(answer.code === code, `${answer.code} ${answer.details ?? answer.error?.details}`)
    }
  })

for (const model of ['garbled', 'dropped', 'truncated', 'cut'])
  await check(`a stream that is ${model} does not end well`, async () => {
    const { code, details } = await stream(asked(model))
    expect(code === UNAVAILABLE || code === DATA_LOSS, `${code} ${details}`)
  })

process.exit(failures ? 1 : 0)
