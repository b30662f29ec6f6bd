import { type Static, t } from 'elysia'
import { quotaLimits } from '../quotas/model.ts'

const count = t.Integer()

const projectStorage = t.Object({
  projectId: t.String(),
  owner: t.String(),
  name: t.String(),
  deployments: count,
  files: t.Integer({ description: 'Of all deployments' }),
  bytes: t.Integer({
    description: 'As published and uploaded: contents that deployments or files share count in each',
  }),
  uniqueBytes: t.Integer({ description: 'Each content of the project once' }),
  uploads: t.Integer({ description: 'Files of the project, which pipelines store' }),
  uploadBytes: t.Integer({ description: 'Of those files' }),
  quota: quotaLimits,
})
export type ProjectStorage = Static<typeof projectStorage>

const storeStorage = t.Object({
  contents: count,
  bytes: t.Integer({ description: 'Of the contents in the object store' }),
  cacheBytes: t.Integer({ description: 'Of local copies of them' }),
  cacheLimitBytes: count,
})

export const storageView = t.Object({
  projects: t.Array(projectStorage),
  contents: t.Integer({
    description: 'Contents of the workspace, each counted once, and the compressed forms',
  }),
  contentBytes: count,
  diskBytes: t.Integer({ description: 'Disk space used by the data directory' }),
  freeBytes: count,
  totalBytes: count,
  floorBytes: t.Integer({ description: 'What must stay free (MIN_FREE_DISK)' }),
  isLow: t.Boolean({ description: 'Less is free, so nothing more is stored' }),
  store: t.Nullable(storeStorage, { description: 'Null where contents are on the local disk alone' }),
  measuredAt: t.String(),
})
export type Storage = Static<typeof storageView>
