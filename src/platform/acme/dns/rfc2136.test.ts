import { afterEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { rfc2136Provider } from './rfc2136.ts'

/** A name server written from RFC 2136 and RFC 8945 alone: it shares no code with the provider. */

const SECRET = Buffer.from('a key of the zone')
const NOW = Date.UTC(2026, 10, 28)
const VALUE = 'gfj9Xq-_Rg85nM'

const hex = (text: string) => Buffer.from(text, 'hex')
const name = (text: string) =>
  Buffer.concat([
    ...text.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])

type Options = { code?: number; tsigError?: number; isUnsigned?: boolean; isForged?: boolean; hash?: string }
type Seen = { body: string; isSigned: boolean }

let server: Server | undefined
afterEach(() => void server?.close())

async function nameServer(options: Options = {}): Promise<{ port: number; seen: Seen[] }> {
  const { code = 0, tsigError = 0, hash = 'sha256' } = options
  const seen: Seen[] = []
  const hmac = (bytes: Buffer) => createHmac(hash, SECRET).update(bytes).digest()
  const keyName = name('svc-key')
  const algorithm = name(`hmac-${hash}`)
  const timed = Buffer.concat([hex('0000'), u32(NOW / 1000), hex('012c')])
  const variables = (error: number) =>
    Buffer.concat([keyName, hex('00ff00000000'), algorithm, timed, u16(error), hex('0000')])
  server = createServer((socket) =>
    socket.on('data', (framed) => {
      const message = Buffer.from(framed).subarray(2)
      const at = message.lastIndexOf(Buffer.concat([keyName, hex('00fa00ff')]))
      const unsigned = Buffer.from(message.subarray(0, at))
      unsigned.writeUInt16BE(0, 10)
      const macAt = at + keyName.length + 10 + algorithm.length + 8 + 2
      const mac = message.subarray(macAt, macAt + hmac(Buffer.alloc(0)).length)
      const isSigned = mac.equals(hmac(Buffer.concat([unsigned, variables(0)])))
      seen.push({ body: unsigned.subarray(2).toString('hex'), isSigned })
      const head = Buffer.concat([message.subarray(0, 2), u16(0xa800 | code), hex('0000000000000000')])
      const signature = hmac(Buffer.concat([u16(mac.length), mac, head, variables(tsigError)]))
      if (options.isForged) signature[0] = (signature[0] ?? 0) ^ 1
      const data = Buffer.concat([
        ...[algorithm, timed, u16(signature.length), signature],
        ...[message.subarray(0, 2), u16(tsigError), hex('0000')],
      ])
      const tsig = Buffer.concat([keyName, hex('00fa00ff00000000'), u16(data.length), data])
      const signed = Buffer.concat([head, tsig])
      signed.writeUInt16BE(1, 10)
      const answer = options.isUnsigned ? head : signed
      socket.write(Buffer.concat([u16(answer.length), answer]))
    }),
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, seen }
}

const u16 = (value: number) => hex(value.toString(16).padStart(4, '0'))
const u32 = (value: number) => hex(value.toString(16).padStart(8, '0'))

const providerAt = (port: number, algorithm: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512' = 'hmac-sha256') =>
  rfc2136Provider({
    server: { host: '127.0.0.1', port },
    zone: 'sites.test',
    key: { name: 'svc-key', secret: SECRET, algorithm },
    now: () => NOW,
  })
const signal = new AbortController().signal
const CHALLENGE = '_acme-challenge.sites.test'
const set = (port: number) => providerAt(port).set(CHALLENGE, VALUE, signal)

/** Opcode UPDATE, one zone, one update; the zone's SOA in IN; then the record. */
const update = (rest: string) => {
  const text = Buffer.concat([Buffer.from([VALUE.length]), Buffer.from(VALUE)])
  const record = Buffer.concat([name(CHALLENGE), hex('0010'), hex(rest), u16(text.length), text])
  return `28000001000000010000${name('sites.test').toString('hex')}00060001${record.toString('hex')}`
}

test.each(['sha256', 'sha384', 'sha512'] as const)(
  'a value is added with TTL 60, and it alone is deleted: %s',
  async (hash) => {
    const { port, seen } = await nameServer({ hash })
    const provider = providerAt(port, `hmac-${hash}`)
    await provider.set(CHALLENGE, VALUE, signal)
    await provider.remove(CHALLENGE, VALUE, signal)
    expect(seen).toEqual([
      { body: update('00010000003c'), isSigned: true },
      { body: update('00fe00000000'), isSigned: true },
    ])
  },
)

const refusals: [what: string, options: Options, says: string][] = [
  ['a code', { code: 5 }, 'The name server 127.0.0.1 refused the update: REFUSED'],
  ['the signature', { code: 9, tsigError: 16 }, 'refused the update: NOTAUTH (BADSIG)'],
  ['the clock', { code: 9, tsigError: 18 }, 'NOTAUTH (BADTIME)'],
  ['an answer without a signature', { isUnsigned: true }, 'The answer of 127.0.0.1 is not signed'],
  ['a forged answer', { isForged: true }, 'has a wrong signature'],
]
test.each(refusals)('%s is named', async (_what, options, says) => {
  const { port } = await nameServer(options)
  const error = await set(port).then(
    () => '',
    (thrown) => String(thrown.message),
  )
  expect(error).toContain(says)
  expect(error).not.toContain(SECRET.toString('base64'))
})

test('a server that is not there is named', async () => {
  const { port } = await nameServer()
  server?.close()
  await expect(set(port)).rejects.toThrow(`The name server 127.0.0.1:${port} could not be asked`)
})
