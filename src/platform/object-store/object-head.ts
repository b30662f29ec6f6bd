import { StoreError } from './error.ts'
import { lengthOf } from './exchange.ts'

/** Who wrote an object, as told by its metadata. Null: it was not written by svc. */
export type Authorship = { writer: string | null; epoch: number | null }
export type ObjectHead = Authorship & { sizeBytes: number; sha256: string | null; modifiedAt: number | null }

const WRITER = 'x-amz-meta-svc-writer'
const EPOCH = 'x-amz-meta-svc-epoch'
const SHA256 = 'x-amz-meta-svc-sha256'

export const metadata = (writer: string, epoch: number, sha256: string): Record<string, string> => ({
  ...authorship(writer, epoch),
  [SHA256]: sha256,
})

/** Of an object whose digest is not known when it is begun. */
export const authorship = (writer: string, epoch: number): Record<string, string> => ({
  [WRITER]: writer,
  [EPOCH]: String(epoch),
})

export function authorOf(headers: Headers): Authorship {
  const epoch = headers.get(EPOCH)
  return {
    writer: headers.get(WRITER),
    epoch: epoch !== null && /^\d{1,15}$/.test(epoch) ? Number(epoch) : null,
  }
}

/** Of a good answer to HEAD. Throws where it lacks what each S3 store says. */
export function headOf(headers: Headers): ObjectHead {
  const sizeBytes = lengthOf(headers)
  if (sizeBytes === null) throw new StoreError('damaged', 'the object store names no length of an object')
  return {
    ...authorOf(headers),
    sizeBytes,
    sha256: headers.get(SHA256),
    modifiedAt: timeOf(headers.get('last-modified')),
  }
}

export function timeOf(text: string | null): number | null {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? null : at
}
