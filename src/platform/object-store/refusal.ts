import { StoreError, type StoreErrorKind } from './error.ts'
import { childText, parseXml } from './xml.ts'

/** The store's answer to a request that it did not do. */
export type Refusal = { status: number; code: string; region: string | null; date: string | null }

const MAX_ERROR_BYTES = 64 * 1024

/** Reads `<Error><Code>`; the rest of such a document repeats what was signed and is not looked at. */
export function readRefusal(status: number, headers: Headers, body: Uint8Array): Refusal {
  const text = body.length > MAX_ERROR_BYTES ? '' : new TextDecoder().decode(body)
  const root = parseXml(text)
  const code = root?.name === 'Error' ? (childText(root, 'Code') ?? '') : ''
  return {
    status,
    code: /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : '',
    region: headers.get('x-amz-bucket-region'),
    date: headers.get('date'),
  }
}

const KINDS: Readonly<Record<string, StoreErrorKind>> = {
  NoSuchBucket: 'no_bucket',
  InvalidBucketName: 'no_bucket',
  InvalidAccessKeyId: 'access_key',
  SignatureDoesNotMatch: 'signature',
  RequestTimeTooSkewed: 'clock',
  AuthorizationHeaderMalformed: 'region',
  PermanentRedirect: 'region',
  TemporaryRedirect: 'region',
  IllegalLocationConstraintException: 'region',
  RequestTimeout: 'unreachable',
  SlowDown: 'unreachable',
}

export function refusalError(
  refusal: Refusal,
  what: { bucket: string; op: string; now: number },
): StoreError {
  const kind = kindOf(refusal)
  return new StoreError(kind, messageOf(kind, refusal, what), { code: refusal.code })
}

function kindOf({ status, code }: Refusal): StoreErrorKind {
  const named = KINDS[code]
  if (named !== undefined) return named
  if (status === 401 || status === 403) return 'denied'
  if (status === 301 || status === 307) return 'region'
  if (status === 501) return 'refused'
  if (status >= 500 || status === 408 || status === 429) return 'unreachable'
  return 'refused'
}

function messageOf(
  kind: StoreErrorKind,
  refusal: Refusal,
  what: { bucket: string; op: string; now: number },
) {
  const { status, code, region } = refusal
  const answer = code === '' ? String(status) : `${status} ${code}`
  switch (kind) {
    case 'no_bucket':
      return noBucket(what.bucket, answer)
    case 'access_key':
      return `the object store does not know the key in STORE_ACCESS_KEY (${answer})`
    case 'signature':
      return `the object store knows the key in STORE_ACCESS_KEY, but STORE_SECRET_KEY is not its secret (${answer})`
    case 'clock':
      return `the object store refuses what STORE_ACCESS_KEY signed, because this machine's clock is ${skewOf(refusal, what.now)} (${answer}): set the clock`
    case 'region':
      return `the bucket "${what.bucket}" is in another region than STORE_REGION says (${answer})${region === null ? '' : `: it is ${region.replace(/[^\w-]/g, '')}`}`
    case 'denied':
      return `the key in STORE_ACCESS_KEY may not ${what.op} in the bucket "${what.bucket}" (${answer})`
    case 'unreachable':
      return `the object store cannot answer now (${answer})`
    default:
      return `the object store refused to ${what.op} (${answer})`
  }
}

export const noBucket = (bucket: string, answer: string): string =>
  `the object store has no bucket "${bucket}" (${answer}): make it, or correct STORE_URL`

function skewOf({ date }: Refusal, now: number): string {
  const at = Date.parse(date ?? '')
  if (Number.isNaN(at)) return 'wrong'
  const seconds = Math.round((now - at) / 1000)
  return `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`
}
