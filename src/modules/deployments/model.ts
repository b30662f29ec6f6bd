import { t } from 'elysia'
import { COMMIT_SHA } from '../../domain/names.ts'
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
      pattern: COMMIT_SHA,
      error: '7 to 64 hexadecimal digits: the whole commit SHA, or how it begins',
    }),
  ),
  alias: optionalText,
})

export const fileQuery = t.Object({ ...pageQuery, prefix: optionalText })

const textOrNull = t.Union([t.String(), t.Null()])

export const deploymentView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  owner: t.String(),
  repo: t.String(),
  commitSha: t.String(),
  branch: textOrNull,
  description: textOrNull,
  workflowName: textOrNull,
  workflowRunId: textOrNull,
  fileCount: t.Number(),
  totalSize: t.Number(),
  aliases: t.Array(t.String()),
  urls: t.Object({ sha: t.String(), preview: t.String(), alias: textOrNull }),
  createdBy: actorView,
  createdAt: t.String(),
  updatedAt: t.String(),
})

export const fileView = t.Object({
  path: t.String(),
  size: t.Number(),
  mimeType: t.String(),
  sha256: t.String(),
  url: t.String(),
})

export const assetView = t.Object({
  id: t.String({ format: 'uuid' }),
  fileName: t.String(),
  storageKey: t.String(),
  mimeType: t.String(),
  size: t.Number(),
  url: t.String(),
})
