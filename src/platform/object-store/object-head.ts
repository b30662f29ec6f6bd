import { StoreError } from './error.ts'
import { lengthOf } from './exchange.ts'

/** Who wrote an object, as told by its metadata. Null: it was not written by svc. */
export type Authorship = { writer: string | null; epoch: number | null }
export type ObjectHead = Authorship & { sizeBytes: number; modifiedAt: number | null }

const WRITER = 'x-amz-meta-svc-writer'
const EPOCH = 'x-amz-meta-svc-epoch'

export const authorHeaders = (writer: string, epoch: number): Record<string, string> => ({
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
  return { ...authorOf(headers), sizeBytes, modifiedAt: timeOf(headers.get('last-modified')) }
}

export function timeOf(text: string | null): number | null {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? null : at
}
