import { HOUR_MS } from '../../../domain/durations.ts'
import { isRecent } from '../../../domain/recent.ts'
import type { Found, ProjectCause } from '../cause.ts'
import { listMappedHosts } from '../queries.ts'

/** Hosts that nobody proved for an hour, and those without a valid certificate. */
export const domainTroubles: ProjectCause = (ctx, projectIds) =>
  listMappedHosts(ctx.db, projectIds).flatMap(
    ({ id, projectId, hostname, verifiedAt, createdAt }): Found[] => {
      const href = `/projects/${projectId}/domains/${id}`
      const shared = { projectId, href, needs: 'project:read' as const }
      if (verifiedAt === null)
        return isRecent(createdAt, ctx.now(), HOUR_MS)
          ? []
          : [
              {
                ...shared,
                code: 'domain-unverified',
                severity: 'warn',
                message: `${hostname} is not verified: its record is not there yet.`,
                at: createdAt,
              },
            ]
      const { status, error } = ctx.certificates.stateOf(hostname)
      if (status !== 'failed' && status !== 'expired') return []
      const why = status === 'expired' ? 'its certificate has expired' : 'no certificate could be issued'
      return [
        {
          ...shared,
          code: 'certificate-failing',
          severity: 'error',
          message: `${hostname} cannot be reached over HTTPS: ${why}${error === null ? '' : ` (${error})`}.`,
          at: verifiedAt,
        },
      ]
    },
  )
