import { isRecord } from '../../domain/is-record.ts'
import type { Io } from '../command.ts'
import type { Progress } from '../deploy/progress.ts'
import type { Published, Target } from '../deploy/upload.ts'
import { writeDotenv } from './dotenv.ts'
import type { PreviewFlags } from './fields.ts'
import { tellForge } from './tell-forge.ts'

type Deploy = { target: Target; flags: PreviewFlags; io: Io; progress: Progress }

/** When the preview of an upload ends; undefined where the server says no end. */
export function endOf({ answer }: Published): string | undefined {
  const { expiresAt } = isRecord(answer['alias']) ? answer['alias'] : {}
  return typeof expiresAt === 'string' ? expiresAt : undefined
}

/** The file that `--dotenv` asks for. */
export function leaveVariables({ target, flags, io }: Deploy, published: Published): void {
  if (target.preview === undefined || !flags.dotenv) return
  const { urls } = published
  writeDotenv(flags.dotenv, { name: target.preview, url: urls.alias, expiresAt: endOf(published) }, io)
}

/** What `--comment` asks for; `published` is null when publishing failed. What the forge refuses is a note. */
export async function announce(
  { target, flags, io, progress }: Deploy,
  published: Published | null,
): Promise<void> {
  const { owner, repo, preview, commitSha } = target
  if (preview === undefined || !flags.comment || published?.isPublished === false) return
  const outcome =
    published === null
      ? ('failed' as const)
      : { url: published.urls.alias ?? undefined, commitSha, expiresAt: endOf(published) }
  const trouble = await tellForge(io.env, { project: `${owner}/${repo}`, preview }, outcome)
  if (trouble !== undefined) progress.note(trouble)
}
