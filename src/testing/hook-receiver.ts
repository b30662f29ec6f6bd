import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa, type TestCertificate } from './test-ca.ts'

const ca = createTestCa()
const certificate = ca.issue({ names: ['*.hooks.test', 'hooks.test', '127.0.0.1'] })

export type Received = { path: string; headers: IncomingHttpHeaders; body: string }

/** A receiver of webhooks over TLS on loopback, under any name below `hooks.test`. */
export type HookReceiver = {
  url(path?: string, name?: string): string
  received: Received[]
  certificate: TestCertificate
  /** Answers all that follow; 204 by default. */
  answerWith(answer: (request: Received, response: ServerResponse) => void): void
  close(): Promise<void>
}

export async function hookReceiver(presented = certificate): Promise<HookReceiver> {
  const received: Received[] = []
  let answer = (_request: Received, response: ServerResponse): void => void response.writeHead(204).end()
  const server = createServer({ ...presented }, async (request, response) => {
    response.on('error', () => {})
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces).toString() }
    received.push(one)
    answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: (path = '/hook', name = 'hooks.test') => `https://${name}:${port}${path}`,
    received,
    certificate: presented,
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

/** The settings with which a server reaches such receivers. `remove` deletes the file of the CA. */
export function hookSettings(): { env: Record<string, string>; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hooks-'))
  const file = join(folder, 'ca.pem')
  writeFileSync(file, ca.pem)
  return {
    env: { NODE_EXTRA_CA_CERTS: file, PROXY_ALLOWED_TARGETS: '127.0.0.0/8' },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
