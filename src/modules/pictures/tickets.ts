import type { Context } from '../../context.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { randomBytes } from '../../platform/random.ts'
import type { SecretBox } from '../../platform/secret-box.ts'

/** What a picture shows: a deployment, from the folder `basePath` on, which is `''` or such as `/dist`. */
export type Pictured = { deploymentId: string; basePath: string }

type Ticket = Pictured & { endsAt: number }

const LIFE_MS = 10 * MINUTE_MS
const IV_BYTES = 12
const TAG_BYTES = 16

/** The right to see a picture for ten minutes, as a segment of an address. Nothing is stored. contract 17.2. */
export function makeTicket(ctx: Context, { deploymentId, basePath }: Pictured): string {
  const [key] = keysOf(ctx.secrets)
  if (key === undefined) throw new Error('There is no key')
  const iv = randomBytes(IV_BYTES)
  const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key, iv)
  const text = JSON.stringify([ctx.now() + LIFE_MS, deploymentId, basePath])
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
}

/** Undefined for a ticket that is not ours, was changed in any way or has ended. */
export function openTicket(ctx: Context, text: string): Pictured | undefined {
  const ticket = knownTicket(ctx.secrets, text)
  return ticket === undefined || ticket.endsAt <= ctx.now() ? undefined : ticket
}

/** A page asks for all its files by one ticket. */
const MAX_KNOWN = 200
const known = new WeakMap<SecretBox, Map<string, Ticket>>()

function knownTicket(secrets: SecretBox, text: string): Ticket | undefined {
  const tickets = known.get(secrets) ?? new Map<string, Ticket>()
  known.set(secrets, tickets)
  const ticket = tickets.get(text) ?? readTicket(secrets, text)
  if (ticket === undefined || tickets.has(text)) return ticket
  for (const oldest of tickets.keys()) {
    if (tickets.size < MAX_KNOWN) break
    tickets.delete(oldest)
  }
  tickets.set(text, ticket)
  return ticket
}

function readTicket(secrets: SecretBox, text: string): Ticket | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // One spelling only: the last character has bits that mean nothing.
  if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined
  for (const key of keysOf(secrets)) {
    const opened = unsealed(key, bytes)
    if (opened === undefined) continue
    const [endsAt, deploymentId, basePath] = JSON.parse(opened) as [number, string, string]
    return { endsAt, deploymentId, basePath }
  }
  return undefined
}

function unsealed(key: Buffer, bytes: Buffer): string | undefined {
  try {
    const iv = bytes.subarray(0, IV_BYTES)
    const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const sealed = bytes.subarray(IV_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const derived = new WeakMap<SecretBox, readonly Buffer[]>()

/** The newest first; those of before a rotation still open. */
function keysOf(secrets: SecretBox): readonly Buffer[] {
  const keys = derived.get(secrets) ?? secrets.deriveKeys('pictures')
  derived.set(secrets, keys)
  return keys
}

/** Loaded with the first picture, so that it does not delay the start. */
const nodeCrypto = () => process.getBuiltinModule('node:crypto')
