import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  CLASS,
  endOfName,
  lastAdditional,
  nameAt,
  nameBytes,
  resourceBytes,
  TYPE,
  u16,
  u32,
  u48,
} from './message.ts'

export type TsigKey = {
  name: string
  secret: Buffer
  algorithm: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512'
}

/** How far two clocks may be apart, in seconds. RFC 8945 §10. */
const FUDGE = 300

type Facts = { seconds: number; fudge: number; error: number; other: Buffer }

/** The message with its signature, and the signature alone, which that of the answer is over. RFC 8945 §5.1. */
export function signed(message: Buffer, key: TsigKey, seconds: number): { message: Buffer; mac: Buffer } {
  const facts = { seconds, fudge: FUDGE, error: 0, other: Buffer.alloc(0) }
  const mac = macOf(key, [message, variables(key, facts)])
  const data = Buffer.concat([
    nameBytes(key.algorithm),
    u48(seconds),
    u16(FUDGE),
    u16(mac.length),
    mac,
    message.subarray(0, 2),
    u16(0),
    u16(0),
  ])
  const record = { name: nameBytes(key.name), type: TYPE.tsig, class: CLASS.any, ttl: 0, data }
  return { message: withCount(Buffer.concat([message, resourceBytes(record)]), 1), mac }
}

/** Why the answer is not what the server said; null if it is. `error`: what it says of our signature. RFC 8945 §5.3. */
export function flawOfAnswer(
  answer: Buffer,
  key: TsigKey,
  { mac, seconds }: { mac: Buffer; seconds: number },
): { flaw: string | null; error: number } {
  const found = lastAdditional(answer)
  if (found === null || found.type !== TYPE.tsig) return { flaw: 'is not signed', error: 0 }
  const { algorithm, given, facts, originalId } = parsed(found.data)
  const { error } = facts
  if (found.name !== key.name || algorithm !== key.algorithm)
    return { flaw: 'is signed with another key', error }
  const plain = withCount(Buffer.from(answer.subarray(0, found.offset)), -1)
  originalId.copy(plain, 0)
  const wanted = macOf(key, [u16(mac.length), mac, plain, variables(key, facts)])
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return { flaw: 'has a wrong signature', error }
  const isNow = Math.abs(facts.seconds - seconds) <= facts.fudge
  return { flaw: isNow ? null : 'was signed at another time', error }
}

const macOf = ({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer =>
  createHmac(algorithm.slice('hmac-'.length), secret).update(Buffer.concat(parts)).digest()

const variables = ({ name, algorithm }: TsigKey, { seconds, fudge, error, other }: Facts): Buffer =>
  Buffer.concat([
    nameBytes(name),
    u16(CLASS.any),
    u32(0),
    nameBytes(algorithm),
    u48(seconds),
    u16(fudge),
    u16(error),
    u16(other.length),
    other,
  ])

function parsed(data: Buffer) {
  const at = endOfName(data, 0)
  const macSize = data.readUInt16BE(at + 8)
  const after = at + 10 + macSize
  const facts: Facts = {
    seconds: data.readUIntBE(at, 6),
    fudge: data.readUInt16BE(at + 6),
    error: data.readUInt16BE(after + 2),
    other: data.subarray(after + 6, after + 6 + data.readUInt16BE(after + 4)),
  }
  return {
    algorithm: nameAt(data, 0),
    given: data.subarray(at + 10, after),
    originalId: data.subarray(after, after + 2),
    facts,
  }
}

/** With another number of additional records. */
function withCount(message: Buffer, more: number): Buffer {
  message.writeUInt16BE(message.readUInt16BE(10) + more, 10)
  return message
}
