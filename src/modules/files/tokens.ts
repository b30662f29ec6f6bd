import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { spentAt } from './queries.ts'

/**
 * The right to store one file, or to read one, as the query of an address. Nothing is stored: a token says what it allows
 * and has our HMAC over all of it. With another `secret.key` it is none of ours any more. contract 14.4.
 */

/** `types` null: any. `endsAt` and `issuedAt` in milliseconds. */
export type UploadFacts = {
  projectId: string
  path: string
  endsAt: number
  maxBytes: number
  types: readonly string[] | null
}
export type IssuedUpload = UploadFacts & { issuedAt: number }

/** `filename`: the name of the download; null shows the file. */
export type FileFacts = { projectId: string; path: string; endsAt: number; filename: string | null }

type Purpose = 'upload' | 'file'

export function uploadToken(ctx: Context, { projectId, path, endsAt, maxBytes, types }: UploadFacts): string {
  // Never as old as what was registered, although a clock may stand still or be set back.
  const issuedAt = Math.max(ctx.now(), (spentAt(ctx.db, projectId, path) ?? 0) + 1)
  return signed(ctx.secrets, 'upload', [projectId, path, issuedAt, endsAt, maxBytes, types])
}

export const fileToken = (ctx: Context, { projectId, path, endsAt, filename }: FileFacts): string =>
  signed(ctx.secrets, 'file', [projectId, path, ctx.now(), endsAt, filename])

/** Undefined for what is not ours, was changed in any way or is for another purpose. It may have ended. */
export function readUploadToken({ secrets }: Context, token: string): IssuedUpload | undefined {
  const facts = verified(secrets, 'upload', token)
  if (facts === undefined) return undefined
  const [projectId, path, issuedAt, endsAt, maxBytes, types] = facts as [
    ...[string, string, number, number, number, string[] | null],
  ]
  return { projectId, path, issuedAt, endsAt, maxBytes, types }
}

export function readFileToken({ secrets }: Context, token: string): FileFacts | undefined {
  const facts = verified(secrets, 'file', token)
  if (facts === undefined) return undefined
  const [projectId, path, , endsAt, filename] = facts as [string, string, number, number, string | null]
  return { projectId, path, endsAt, filename }
}

/** Throws 409 if a record was made of the path since the address was issued. Ask again in the transaction that stores. */
export function refuseSpent({ db }: Context, { projectId, path, issuedAt }: IssuedUpload): void {
  const at = spentAt(db, projectId, path)
  if (at !== null && at >= issuedAt)
    throw new AppError('conflict', 'The file of this address was registered; ask for a new address', {
      code: 'UPLOAD_URL_SPENT',
    })
}

function signed(secrets: SecretBox, purpose: Purpose, facts: readonly unknown[]): string {
  const body = Buffer.from(JSON.stringify(facts)).toString('base64url')
  return `${body}.${macOf(secrets, purpose, body)}`
}

function verified(secrets: SecretBox, purpose: Purpose, token: string): unknown[] | undefined {
  const [body = '', mac = '', ...more] = token.split('.')
  if (more.length > 0) return undefined
  const [expected, given] = [Buffer.from(macOf(secrets, purpose, body)), Buffer.from(mac)]
  if (expected.length !== given.length || !crypto.timingSafeEqual(expected, given)) return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[]
}

/** Over the text as it is sent, so that no byte has a second spelling. */
const macOf = (secrets: SecretBox, purpose: Purpose, body: string): string =>
  new Bun.CryptoHasher('sha256', keyOf(secrets)).update(`${purpose}.${body}`).digest('base64url')

const derived = new WeakMap<SecretBox, Buffer>()

/** Only the newest: rotating the secret ends every address. */
function keyOf(secrets: SecretBox): Buffer {
  const key = derived.get(secrets) ?? secrets.deriveKeys('project files')[0]
  if (key === undefined) throw new Error('There is no key')
  derived.set(secrets, key)
  return key
}
