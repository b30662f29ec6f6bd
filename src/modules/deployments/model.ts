import { type Static, t } from 'elysia'
import { COMMIT_SHA } from '../../domain/names.ts'
import { orNull } from '../../http/or-null.ts'
import { pageQuery } from '../../http/pagination.ts'
import { actorView } from '../aliases/model.ts'

const optionalText = t.Optional(t.String())

export const deploymentQuery = t.Object({
  ...pageQuery,
  projectId: optionalText,
  owner: optionalText,
  repo: optionalText,
  branch: optionalText,
  commitSha: t.Optional(
    t.String({
      pattern: `^$|${COMMIT_SHA}`,
      error: '7 to 64 hexadecimal digits: the full commit SHA or a prefix',
    }),
  ),
  alias: optionalText,
  number: t.Optional(
    t.String({
      pattern: '^$|^[1-9][0-9]{0,14}$',
      error: 'A whole number from 1',
      description: 'With projectId, or owner and repo',
    }),
  ),
  q: t.Optional(
    t.String({
      description: 'A part of the title or the branch, the number, or the beginning of the commit SHA',
    }),
  ),
})

export const fileQuery = t.Object({ ...pageQuery, prefix: optionalText })

const textOrNull = orNull(t.String())

/**
 * One version of a commit. contract 16 §1. `urls` are absolute: `sha` and `preview` show the newest version of the commit,
 * `version` this one, `alias` is the host of an alias that points here, preferably `production`.
 */
export const deploymentView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  owner: t.String(),
  repo: t.String(),
  number: t.Integer({ description: '1, 2, 3 … within the project, never twice' }),
  title: orNull(t.String({ description: 'The first line of the description' })),
  commitSha: t.String(),
  version: t.Integer({ description: '1, 2, 3 … within the commit' }),
  isLatest: t.Boolean({ description: 'The newest version of the commit that exists' }),
  baseSha: orNull(t.String({ description: 'The commit that a changed working tree stood on' })),
  branch: textOrNull,
  description: textOrNull,
  workflowName: textOrNull,
  workflowRunId: textOrNull,
  fileCount: t.Number(),
  totalSize: t.Number(),
  preview: orNull(t.String({ description: 'The preview that it was published as' })),
  aliases: t.Array(t.String()),
  urls: t.Object({ sha: t.String(), preview: t.String(), version: t.String(), alias: textOrNull }),
  createdBy: actorView,
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type DeploymentView = Static<typeof deploymentView>

export const fileView = t.Object({
  path: t.String(),
  size: t.Number(),
  mimeType: t.String(),
  sha256: t.String(),
  url: t.String(),
})
export type FileView = Static<typeof fileView>

/** spec: Asset. `url` is a path on the admin host. */
export const assetView = t.Object({
  id: t.String({ format: 'uuid' }),
  fileName: t.String(),
  storageKey: t.String(),
  mimeType: t.String(),
  size: t.Number(),
  url: t.String(),
})
export type AssetView = Static<typeof assetView>

/** What a delta upload still has to send. */
export const uploadSlotView = t.Object({
  uploadId: t.String(),
  missing: t.Array(t.String()),
  expiresAt: t.String(),
})
export type UploadSlot = Static<typeof uploadSlotView>

/** What the sender of an upload may not expect. `path` is a folder of the deployment. contract 12.9. */
export const uploadNoteView = t.Object({
  code: t.Union([t.Literal('NO_START_PAGE'), t.Literal('NESTED_FOLDER'), t.Literal('PRIVATE_PROJECT')]),
  message: t.String(),
  path: textOrNull,
})
export type UploadNote = Static<typeof uploadNoteView>
