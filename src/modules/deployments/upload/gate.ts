import type { Caller, Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import type { ByteStream } from '../../../platform/byte-stream.ts'
import { authorizeUpload, mayUploadSomewhere } from '../publish/access.ts'
import { targetOf, type UploadFields } from './fields.ts'

/** How much is read from a caller who may publish nowhere: fields after the files decide which error they get. */
const MAX_PASSED_OVER_BYTES = 1024 * 1024

/** Refuses an upload as early as its fields allow. Access is checked again when it is published. */
export class UploadGate {
  readonly #ctx: Context
  readonly #caller: Caller
  readonly #fields: UploadFields
  #isDecided = false
  #mayUpload: boolean | undefined
  #passedOverBytes = 0

  constructor(ctx: Context, caller: Caller, fields: UploadFields) {
    this.#ctx = ctx
    this.#caller = caller
    this.#fields = fields
  }

  /** Call it when a field arrives. Throws 403 or 404 once the target is known and the caller may not publish there. */
  check(): void {
    const target = this.#isDecided ? undefined : targetOf(this.#fields)
    if (target === undefined) return
    const { makesProject } = this.#fields
    const commitSha = this.#fields.first('commitSha')?.toLowerCase()
    authorizeUpload(this.#ctx, this.#caller, { ...target, commitSha }, makesProject)
    this.#isDecided = true
  }

  /** False: this content must not be stored; it was read and dropped, up to a limit. */
  async admits(body: ByteStream | Uint8Array): Promise<boolean> {
    if (this.#isDecided || this.#fields.makesProject) return true
    this.#mayUpload ??= mayUploadSomewhere(this.#ctx, this.#caller)
    if (this.#mayUpload) return true
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      this.#passedOverBytes += piece.length
      if (this.#passedOverBytes > MAX_PASSED_OVER_BYTES) throw this.#refusal()
    }
    return false
  }

  /** Call it at the end of the form. Throws if contents were dropped, even if the caller got a role meanwhile. */
  close(): void {
    if (this.#mayUpload === false && targetOf(this.#fields) !== undefined) throw this.#refusal()
  }

  #refusal(): AppError {
    return new AppError('forbidden', 'You have no project to publish to: ask for the role contributor on one')
  }
}
