import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { messageOf } from '../../../domain/errors.ts'
import { AcmeError } from '../error.ts'
import { CLASS, nameBytes, type Resource, resourceBytes, TYPE, txtData, u16 } from './message.ts'
import type { DnsProvider } from './provider.ts'
import { flawOfAnswer, signed, type TsigKey } from './tsig.ts'

type Options = {
  server: { host: string; port: number }
  zone: string
  key: TsigKey
  /** Milliseconds since 1970. */
  now: () => number
}

const TTL_SECONDS = 60
const TIMEOUT_MS = 20_000

/** Updates of a zone at its name server, over TCP, signed both ways. RFC 2136, RFC 8945. */
export function rfc2136Provider(options: Options): DnsProvider {
  const text = (name: string, value: string): Omit<Resource, 'class' | 'ttl'> => ({
    name: nameBytes(name),
    type: TYPE.txt,
    data: txtData(value),
  })
  return {
    set: (name, value, signal) =>
      update(options, { ...text(name, value), class: CLASS.in, ttl: TTL_SECONDS }, signal),
    // RFC 2136 §2.5.4: this record alone.
    remove: (name, value, signal) =>
      update(options, { ...text(name, value), class: CLASS.none, ttl: 0 }, signal),
  }
}

async function update({ server, zone, key, now }: Options, change: Resource, signal: AbortSignal) {
  const seconds = Math.floor(now() / 1000)
  const id = u16(randomInt(0x1_0000))
  const request = signed(updateOf(id, zone, change), key, seconds)
  const answer = await exchanged(server, request.message, signal)
  const where = `The name server ${server.host}`
  try {
    if (!answer.subarray(0, 2).equals(id)) throw new AcmeError(`${where} answered something else`)
    const code = answer.readUInt8(3) & 0x0f
    const { flaw, error } = flawOfAnswer(answer, key, { mac: request.mac, seconds })
    if (code !== 0) throw new AcmeError(`${where} refused the update: ${codeName(code)}${tsigName(error)}`)
    if (flaw !== null) throw new AcmeError(`The answer of ${server.host} ${flaw}`)
  } catch (error) {
    if (error instanceof AcmeError) throw error
    throw new AcmeError(`${where} answered what cannot be read`)
  }
}

/** RFC 2136 §2.2 to §2.5. */
const updateOf = (id: Buffer, zone: string, change: Resource): Buffer =>
  Buffer.concat([
    id,
    u16(OPCODE_UPDATE << 11),
    ...[1, 0, 1, 0].map(u16),
    nameBytes(zone),
    u16(TYPE.soa),
    u16(CLASS.in),
    resourceBytes(change),
  ])

const OPCODE_UPDATE = 5
const CODES = [
  ...['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'],
  ...['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NOTAUTH', 'NOTZONE'],
]
const TSIG_ERRORS: Record<number, string> = { 16: 'BADSIG', 17: 'BADKEY', 18: 'BADTIME', 22: 'BADTRUNC' }

const codeName = (code: number): string => CODES[code] ?? `code ${code}`
const tsigName = (error: number): string =>
  error === 0 ? '' : ` (${TSIG_ERRORS[error] ?? `TSIG error ${error}`})`

/** One message over TCP, each behind its length. RFC 1035 §4.2.2. */
function exchanged({ host, port }: Options['server'], message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const failed = (how: string) => reject(new AcmeError(`The name server ${host}:${port} ${how}`))
  const socket = connect({ host, port })
  let got: Buffer = Buffer.alloc(0)
  const stop = () => failed('took too long')
  limit.addEventListener('abort', stop, { once: true })
  socket.on('connect', () => socket.write(Buffer.concat([u16(message.length), message])))
  socket.on('data', (piece: Buffer) => {
    got = Buffer.concat([got, piece])
    const length = got.length < 2 ? Number.POSITIVE_INFINITY : got.readUInt16BE(0)
    if (got.length >= length + 2) resolve(got.subarray(2, length + 2))
  })
  socket.on('error', (error) => failed(`could not be asked. ${messageOf(error)}`))
  socket.on('close', () => failed('closed the connection without an answer'))
  return promise.finally(() => {
    limit.removeEventListener('abort', stop)
    socket.destroy()
  })
}
