export type StoreErrorKind =
  /** No answer in time, a cut connection, 5xx. Of a write: it may still have happened. */
  | 'unreachable'
  /** An answer that no S3 store gives: HTML, a short body, a list that leads nowhere. Of a write: it may have happened. */
  | 'damaged'
  | 'no_bucket'
  /** The store does not know the access key. */
  | 'access_key'
  /** It knows the access key, whose secret is another. */
  | 'signature'
  /** The clocks of this machine and the store differ too much. */
  | 'clock'
  | 'region'
  /** The key is good and may not do this. */
  | 'denied'
  /** The object is larger than the caller takes. */
  | 'too_large'
  /** `If-None-Match` is not honoured. */
  | 'no_conditions'
  /** Any other answer that trying again does not change. */
  | 'refused'

/** What went wrong at the object store. Its message is for an operator: it names settings, never their secrets. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind
  /** The store's own code, such as `NoSuchBucket`; '' where it gave none. */
  readonly code: string

  constructor(kind: StoreErrorKind, message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.code = options.code ?? ''
  }

  /** Whether the same request may be answered otherwise a moment later; a write may have happened nevertheless. */
  get isTransient(): boolean {
    return this.kind === 'unreachable' || this.kind === 'damaged'
  }

  /** Whether a setting or the store must be changed first. */
  get isSetting(): boolean {
    return !this.isTransient && this.kind !== 'too_large' && this.kind !== 'refused'
  }
}
