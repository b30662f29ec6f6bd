import type { DbOrTx } from '../../db/open.ts'
import { findDomainByHost } from './queries.ts'

export { listProvenHosts } from './queries.ts'

/** Whether somebody mapped the host (normalised), proven or not: labels and mappings share one name space. contract §1. */
export const isHostMapped = (db: DbOrTx, host: string): boolean => findDomainByHost(db, host) !== undefined
