import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import type { ApiKeyView } from './model.ts'
import type { ApiKey } from './queries.ts'

export const toView = (key: ApiKey): ApiKeyView => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  projectId: key.projectId,
  isGlobal: key.isGlobal,
  createdBy: key.createdBy,
  createdAt: isoTime(key.createdAt),
  expiresAt: isoTimeOrNull(key.expiresAt),
  lastUsedAt: isoTimeOrNull(key.lastUsedAt),
  suspendedAt: isoTimeOrNull(key.suspendedAt),
  suspendedReason: key.suspendedReason,
})

/** For the audit log. */
export const subject = ({ id, name, projectId }: ApiKey) => ({
  target: { kind: 'api-key', id, name },
  projectId,
})
