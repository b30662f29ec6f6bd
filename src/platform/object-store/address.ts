import { encoded } from './sign.ts'

/** Where a bucket is. contract 18 §1. */
export type StoreAddress = {
  bucket: string
  /** Below which all keys are: empty, or with a slash at its end. */
  prefix: string
  /** Scheme, host and port; null for AWS by its region. */
  endpoint: string | null
  region: string
}

/** The parts of a request's URL that depend on the key; '' is the bucket itself. */
export type Place = { origin: string; host: string; path: string }

/** With an endpoint the bucket's name stands in the path, without one in the host. */
export function placeOf({ bucket, endpoint, region }: StoreAddress, fullKey: string): Place {
  const ofKey = fullKey.split('/').map(encoded).join('/')
  if (endpoint !== null)
    return { origin: endpoint, host: new URL(endpoint).host, path: `/${encoded(bucket)}/${ofKey}` }
  const host = `${bucket}.s3.${region}.amazonaws.com`
  return { origin: `https://${host}`, host, path: `/${ofKey}` }
}

/** A `.` or `..` would be taken away on the way, and lead to another key than the signed one. */
export const isKey = (key: string): boolean =>
  key !== '' &&
  Buffer.byteLength(key) <= 1024 &&
  key.split('/').every((part) => !/^\.{0,2}$|\p{Cc}/u.test(part))
