import type { Caller, Context } from '../../../context.ts'
import { targetOf, type UploadFields } from '../upload/fields.ts'
import { authorizeUpload } from './access.ts'
import type { Failure } from './tell.ts'

/** Longer ones are no SHA and no name, only noise in the message. */
const MAX_SHOWN = 100

/** What the fields say of a publish that failed; undefined while they do not say where to. Throws if the caller may not publish there. */
export function failureOf(ctx: Context, caller: Caller, fields: UploadFields): Failure | undefined {
  const target = targetOf(fields)
  if (target === undefined) return undefined
  const shown = (name: string) => fields.first(name)?.slice(0, MAX_SHOWN).toWellFormed() ?? null
  return {
    project: authorizeUpload(ctx, caller, target),
    commitSha: shown('commitSha'),
    alias: shown('alias') ?? shown('preview'),
  }
}
