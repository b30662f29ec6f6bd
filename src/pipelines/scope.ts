import type { Context } from '../context.ts'
import { openSecret } from '../modules/secrets/service.ts'
import { inputView, type PipelineInput, requestView } from './input.ts'
import type { Scope } from './language/expressions.ts'

type Seen = {
  projectId: string
  input: PipelineInput
  outputs: Readonly<Record<string, unknown>>
  /** Collects the decrypted secrets, for masking the run log. */
  secrets: Set<string>
}

/** What the expressions of a run can see. */
export function createScope(ctx: Context, { projectId, input, outputs, secrets }: Seen): Scope {
  let request: Record<string, unknown> | undefined
  let merged: Record<string, unknown> | undefined
  return {
    root(name) {
      switch (name) {
        case 'steps':
          return outputs
        case 'request':
        case 'metadata':
          request ??= requestView(input)
          return request
        case 'input':
          merged ??= inputView(input)
          return merged
        default:
          return input[name]
      }
    },
    secret(name) {
      const value = openSecret(ctx, projectId, name) ?? null
      if (value !== null && value !== '') secrets.add(value)
      return value
    },
    now: () => new Date(ctx.now()).toISOString(),
    uuid: () => ctx.newId(),
  }
}
