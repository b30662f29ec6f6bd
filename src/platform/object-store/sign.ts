import { givingBack } from '../byte-stream.ts'

/** What signs a request: AWS Signature Version 4, in the `Authorization` header. */
export type Signer = { region: string; accessKey: string; secretKey: string }

export type Signable = {
  method: string
  host: string
  /** Percent-encoded, as it is sent. */
  path: string
  query: Readonly<Record<string, string>>
  /** Lower-case names. All of them are signed, so nothing on the way can take the condition away. */
  headers: Readonly<Record<string, string>>
  /** Hex SHA-256 of the body. */
  payload: string
}

/** The headers to send: the given ones, with the time, the payload's hash and the signature. */
export function signed(request: Signable, signer: Signer, now: number): Record<string, string> {
  const time = `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': request.payload,
    'x-amz-date': time,
  }
  const names = [...Object.keys(headers), 'host'].sort()
  const values: Record<string, string> = { ...headers, host: request.host }
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...names.map((name) => `${name}:${values[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    request.payload,
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${signer.region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signature = hmac(keyOf(signer, time.slice(0, 8)), toSign).toString('hex')
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${signer.accessKey}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}

/** The query as it is signed and sent: in the order of its names. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.keys(query)
    .sort()
    .map((name) => `${encoded(name)}=${encoded(query[name] ?? '')}`)
    .join('&')

/** RFC 3986: everything but A-Z a-z 0-9 - . _ ~ in percent form. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

export const sha256 = (bytes: string | Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

/** Of a file, piece by piece. */
export async function sha256Of(body: Uint8Array | Blob): Promise<string> {
  if (!(body instanceof Blob)) return sha256(body)
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of givingBack(body.stream())) hash.update(piece)
  return hash.digest('hex')
}

const hmac = (key: string | Uint8Array, text: string): Buffer =>
  new Bun.CryptoHasher('sha256', key).update(text).digest()

function keyOf({ secretKey, region }: Signer, date: string): Buffer {
  const ofDate = hmac(`AWS4${secretKey}`, date)
  return hmac(hmac(hmac(ofDate, region), 's3'), 'aws4_request')
}
