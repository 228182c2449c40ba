// The gateway before an upstream that others wrote: @copilotkit/aimock (npm), asked with @grpc/grpc-js.
// RENGA_BIN=<folder of renga-llm-gateway> node aimock.mjs; one line a check, exit 1 when one fails.
// Without aimock in tests/integration/node_modules there is nothing to check.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import grpc from '@grpc/grpc-js'
import { asked, chat, check, children, expect, freePort, here, open, outcome, stream } from './gateway.mjs'

const llmock = process.env.LLMOCK ?? here('../node_modules/.bin/llmock')
if (!existsSync(llmock)) {
  console.log('# aimock is not installed: skipped')
  process.exit(0)
}
const MODELS = ['chat', 'limited', 'failing', 'garbled', 'dropped', 'truncated', 'cut', 'paced', 'structured']
const { OK, RESOURCE_EXHAUSTED, UNAVAILABLE, DATA_LOSS } = grpc.status
async function answers(url) {
  for (let i = 0; i < 100; i++) {
    if (await fetch(url).then(() => true, () => false)) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`${url} does not answer`)
}

const upstreamPort = await freePort()
children.push(spawn(process.execPath, [llmock, '-p', upstreamPort, '-f', here('aimock_fixtures.json'), '--log-level', 'silent'],
  { stdio: 'ignore' }))
await answers(`http://127.0.0.1:${upstreamPort}/v1/models`)
const WEATHER = { tools: [{ name: 'get_weather', parameters_json: '{"type":"object","properties":{"city":{"type":"string"}}}' }] }

const PROVIDERS = [
  ['OpenAI', 'openai', '/v1'],
  ['Azure v1', 'azure', ''],
  ['Anthropic', 'anthropic', ''],
  ['Anthropic 2026', 'anthropic', '', ['--llm_gateway.api_version=2026-10-21']],
  ['Ollama', 'ollama', '']
]
for (const [name, provider, path, more] of PROVIDERS) {
  await open(provider, `http://127.0.0.1:${upstreamPort}${path}`, MODELS, more)

  await check(name + ': a question is answered, whole and in pieces, with the same words', async () => {
    const { response, error } = await chat(asked('chat'))
    expect(response?.message.content === 'Hello from an upstream that others wrote.', error?.message ?? JSON.stringify(response))
    const streamed = await stream(asked('chat'))
    expect(streamed.code === OK && streamed.text === response.message.content, JSON.stringify(streamed))
    const { finish } = streamed.last
    expect(finish.finish_reason === 'FINISH_REASON_STOP' && finish.answered_by.provider === provider, JSON.stringify(finish))
    // aimock counts nothing for Ollama
    for (const { usage } of [response.finish, finish])
      expect(usage.input_tokens > 0 && usage.output_tokens > 0 && usage.estimated === (provider === 'ollama'), JSON.stringify(usage))
  })

  await check(name + ': a tool is called, answered, and the conversation goes on', async () => {
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

  await check(name + ': an answer after a schema is given as JSON', async () => {
    const { response, error } = await chat(asked('structured', { response_format: { kind: 'RESPONSE_FORMAT_KIND_JSON_SCHEMA', name: 'verdict',
      schema_json: '{"type":"object","properties":{"answer":{"type":"string"},"score":{"type":"integer"}}}' } }))
    expect(JSON.parse(response?.finish.structured_json ?? 'null')?.score === 7, error?.message ?? JSON.stringify(response))
  })

  await check(name + ': a paced stream comes whole', async () => {
    const { code, text, details } = await stream(asked('paced'))
    expect(code === OK && text.startsWith('古池や'), details)
  })

  for (const [model, code] of [['limited', RESOURCE_EXHAUSTED], ['failing', UNAVAILABLE]])
    await check(`${name}: '${model}' is refused alike, whole and in pieces`, async () => {
      for (const how of [chat, stream]) {
        const answer = await how(asked(model))
        expect(answer.code === code, `${answer.code} ${answer.details ?? answer.error?.details}`)
      }
    })

  for (const model of ['garbled', 'dropped', 'truncated', 'cut'])
    await check(`${name}: a stream that is ${model} does not end well`, async () => {
      const { code, details } = await stream(asked(model))
      expect(code === UNAVAILABLE || code === DATA_LOSS, `${code} ${details}`)
    })
}

await open('azure', `http://127.0.0.1:${upstreamPort}`, ['chat'], ['--llm_gateway.api_version=2024-10-21'])
await check('Azure classic: the deployment stands in the path', async () => {
  const { response, error } = await chat(asked('chat'))
  expect(response?.message.content === 'Hello from an upstream that others wrote.', error?.message ?? JSON.stringify(response))
  const { code, text } = await stream(asked('chat'))
  expect(code === OK && text === response.message.content, text)
})

process.exit(outcome.failures ? 1 : 0)
