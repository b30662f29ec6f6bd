import { type Io, UsageError } from '../command.ts'
import type { Target } from '../deploy/upload.ts'
import { previewNameOf, readReview } from './ci-review.ts'

export type PreviewFlags = {
  alias?: string | undefined
  preview?: string | undefined
  expires?: string | undefined
  comment?: boolean | undefined
  dotenv?: string | undefined
}

/** The fields of an upload that make it a preview; none without `--preview`. Throws a `UsageError`. contract 16 §2. */
export function previewFields(
  flags: PreviewFlags,
  branch: string | undefined,
  env: Io['env'],
): Pick<Target, 'preview' | 'expiresIn' | 'pullRequest' | 'pullRequestUrl'> {
  if (flags.preview === undefined) {
    const [alone] = (['expires', 'comment', 'dotenv'] as const).filter((name) => flags[name])
    if (alone !== undefined) throw new UsageError(`--${alone} belongs to --preview, which is missing`)
    return {}
  }
  if (flags.alias !== undefined)
    throw new UsageError('--preview and --alias exclude each other: a preview is an alias with an end')
  const review = readReview(env)
  return {
    preview: previewNameOf(flags.preview, branch, env),
    ...(flags.expires ? { expiresIn: flags.expires } : {}),
    ...(review === undefined ? {} : { pullRequest: review.number }),
    ...(review?.url === undefined ? {} : { pullRequestUrl: review.url }),
  }
}
