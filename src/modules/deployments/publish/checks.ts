import type { Context } from '../../../context.ts'
import type { ReleaseChecks } from '../../../domain/release-checks.ts'
import { type StagedBlob, withContents } from '../../../platform/blob-store.ts'
import { readChecksFile } from '../../releases/checks-file.ts'
import {
  deleteDeploymentChecks,
  keepDeploymentChecks,
  putDeploymentChecks,
} from '../../releases/deployment-checks.ts'
import { findBlob } from '../blob-queries.ts'
import type { UploadedFile } from '../upload/files.ts'
import type { Plan } from './plan.ts'

/** What the checks file of an upload says. */
export type SentChecks = { path: string; checks: ReleaseChecks }

/** Reads the checks file out of what was received. Throws `CHECKS_INVALID`. */
export async function readSentChecks(
  ctx: Context,
  file: UploadedFile | null,
  received: readonly StagedBlob[],
): Promise<SentChecks | null> {
  if (file === null) return null
  const { path, sha256 } = file
  const blob = received.find((one) => one.sha256 === sha256) ?? findBlob(ctx.db, sha256)
  if (blob === null) throw new Error(`The content ${sha256} of ${path} is gone`)
  return { path, checks: await readChecksFile(path, await withContents(ctx, () => ctx.blobs.readSync(blob))) }
}

type Versioned = {
  plan: Plan
  deploymentId: string
  /** What the upload replaces, as `planPublish` has it. */
  below: string | null
  sent: SentChecks | null
}

/** Keeps the checks files of a version, which are replaced and kept as its files are. */
export function recordChecks({ db }: Context, { plan, deploymentId, below, sent }: Versioned): void {
  const folder = below === null ? null : `${below}/`.slice(1)
  if (plan.kind === 'new') {
    if (plan.before !== undefined) keepDeploymentChecks(db, plan.before.id, deploymentId, folder)
  } else if (folder !== null) deleteDeploymentChecks(db, deploymentId, folder)
  if (sent !== null) putDeploymentChecks(db, deploymentId, sent.path, sent.checks)
}
