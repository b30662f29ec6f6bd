import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

export type PurgeReceived = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  keys: string[]
}

/** What a CDN's API or a cache looks like from here, on loopback without TLS. */
export type CdnReceiver = {
  url: string
  received: PurgeReceived[]
  /** Answers all that follow; 200 with `success: true` by default. */
  answerWith(answer: (response: ServerResponse) => void): void
  close(): Promise<void>
}

const answerOk = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}')

export async function cdnReceiver(): Promise<CdnReceiver> {
  const received: PurgeReceived[] = []
  let answer: (response: ServerResponse) => void = answerOk
  const server = createServer(async (request, response) => {
    response.on('error', () => {})
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces).toString()
    const { method = '', url = '', headers } = request
    received.push({ method, path: url, headers, body, keys: keysOf(headers, body) })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answerWith(next) {
      answer = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function keysOf(headers: IncomingHttpHeaders, body: string): string[] {
  if (body === '') return String(headers['xkey-purge'] ?? '').split(' ')
  const { keys, tags, surrogate_keys: fastly } = JSON.parse(body) as Record<string, string[]>
  return keys ?? tags ?? fastly ?? []
}
