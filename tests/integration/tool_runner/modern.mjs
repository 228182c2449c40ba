// A tool server of the official SDK that speaks revision 2026-07-28 alone: `modern.mjs stdio`, or `modern.mjs http`,
// which prints its port.
import { createServer } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

function make() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' })
  server.registerTool('greet', {
    description: 'greets', inputSchema: z.object({ name: z.string() }), annotations: { readOnlyHint: true },
  }, async ({ name }) => ({ content: [{ type: 'text', text: `Hello ${name}` }] }))
  server.registerTool('fail', { description: 'fails', inputSchema: z.object({}) }, async () => { throw new Error('boom') })
  server.registerTool('slow', {
    description: 'tells how it goes', inputSchema: z.object({ ms: z.number() }), annotations: { readOnlyHint: true },
  }, async ({ ms }, context) => {
    const signal = context.mcpReq?.signal ?? context.signal
    for (let past = 0; past < ms && !signal?.aborted; past += 20) await new Promise(done => setTimeout(done, 20))
    if (signal?.aborted) console.error('aborted')
    return { content: [{ type: 'text', text: 'done' }] }
  })
  return server
}

if (process.argv[2] === 'stdio') {
  serveStdio(make, { legacy: 'reject' })
} else {
  const handler = createMcpHandler(make, { legacy: 'reject' })
  createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const leave = new AbortController()
    response.on('close', () => leave.abort())
    const answer = await handler.fetch(new Request(`http://localhost${request.url}`, {
      method: request.method, headers: request.headers, body: chunks.length ? Buffer.concat(chunks) : undefined,
      signal: leave.signal,
    }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body) for await (const part of answer.body) response.write(part)
    response.end()
  }).listen(0, '127.0.0.1', function () { console.log(`port ${this.address().port}`) })
}
