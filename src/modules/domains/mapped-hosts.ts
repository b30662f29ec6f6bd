import type { DbOrTx } from '../../db/open.ts'
import { findDomainByHost } from './queries.ts'

export { listProvenHosts } from './queries.ts'

/** Whether the host (normalised) is mapped, proven or not: labels and mapped hosts share one namespace. contract §1. */
export const isHostMapped = (db: DbOrTx, host: string): boolean => findDomainByHost(db, host) !== undefined
