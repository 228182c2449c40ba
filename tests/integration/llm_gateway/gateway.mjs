// A gateway of its own in a process, asked with @grpc/grpc-js; for the scripts beside it.
// RENGA_BIN is the folder of renga-llm-gateway.
import { createServer } from 'node:net'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { here, start } from './checks.mjs'

export { check, children, here, outcome } from './checks.mjs'

const { OK } = grpc.status

export const freePort = () => new Promise(resolve => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

export function expect(holds, what) {
  if (!holds) throw new Error(what)
}

const { renga } = grpc.loadPackageDefinition(loadSync('renga/v1/llm_gateway.proto',
  { includeDirs: [here('../../../proto')], keepCase: true, longs: Number, enums: String, oneofs: true, defaults: true }))
let gateway
// Starts one more gateway; from then on it is the one that is asked. Gives its log as far as it came, which names its ports.
// Without a provider it is told nothing of upstreams.
export async function open(provider, url, models, more = []) {
  const single = provider ? ['--llm_gateway.key=sk-scripted-0123', `--llm_gateway.provider=${provider}`,
    `--llm_gateway.upstream=${url}`, `--llm_gateway.models=${models}`, '--llm_gateway.attempts=1'] : []
  const { seen: log } = await start(`${process.env.RENGA_BIN}/renga-llm-gateway`,
    ['--rpc.listen=127.0.0.1:0', '--http.listen=', '--log.format=json', ...single,
      '--llm_gateway.idle_timeout=2s', '--llm_gateway.breaker=off', ...more],
    more.some(flag => flag.startsWith('--llm_gateway.http.listen')) ? /llm_gateway\.listening/ : /rpc\.listening/)
  const port = /rpc\.listening.*?port (\d+)/.exec(log)[1]
  gateway = new renga.v1.LlmGateway(`127.0.0.1:${port}`, grpc.credentials.createInsecure())
  return log
}
const options = () => ({ deadline: Date.now() + 60000 }) // no test waits for it
export const asked = (model, more = {}) => ({ model, messages: [{ role: 'CHAT_ROLE_USER', content: '連歌とは?' }], ...more })


export const chat = request => new Promise(resolve =>
  gateway.Chat(request, new grpc.Metadata(), options(), (error, response) => resolve({ code: error?.code ?? OK, error, response })))
export const embed = request => new Promise(resolve =>
  gateway.Embed(request, new grpc.Metadata(), options(), (error, response) => resolve({ code: error?.code ?? OK, error, response })))
export const stream = request => new Promise(resolve => {
  const events = []
  gateway.ChatStream(request, new grpc.Metadata(), options()).on('data', event => events.push(event)).on('error', () => {})
    .on('status', status => resolve({ code: status.code, details: status.details, events, last: events.at(-1),
      text: events.map(event => event.text ?? '').join('') }))
})
