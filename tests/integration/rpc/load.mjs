// Load for drain.py: node load.mjs TARGET SERVICE_CONFIG. Says "ready" once a call was answered, calls until its standard
// input ends, and then says {"calls": …, "failures": […]}.
import { connect } from './probe.mjs'

const [target, config] = process.argv.slice(2)
const probe = connect('renga.test.Probe', target, {
  'grpc.service_config': config, 'grpc.use_local_subchannel_pool': 1
})
const said = { calls: 0, failures: [] }
const PAUSE_MS = 10 // between unary calls, as in drain.py
const STREAM = { messages: 10, interval_ms: 40, bytes: 100 }
let over = false

async function repeat(name, one) {
  while (!over) {
    try {
      await one()
    } catch (error) {
      said.failures.push(`${(Date.now() / 1000).toFixed(3)} ${name} ${error.message}`)
    }
    said.calls++
  }
}

async function unary() {
  const answer = await probe.call('Echo', { text: 'load' })
  if (answer.text !== 'load') throw new Error("another's answer")
  await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
}

async function stream() {
  const messages = await probe.all('Count', STREAM)
  if (messages.length !== STREAM.messages) throw new Error(`${messages.length} messages`)
}

process.stdin.resume()
process.stdin.on('end', () => { over = true })
await unary()
console.log('ready')
await Promise.all([...Array(6).fill(['unary', unary]), ...Array(6).fill(['stream', stream])]
  .map(([name, one]) => repeat(name, one)))
console.log(JSON.stringify(said))
probe.close()
