import { bringUpToDate } from '../db/replication/replica.ts'
import { storeAt } from './store-log.ts'

/** A process of its own, to be killed. */
const [endpoint = '', dataDir = ''] = process.argv.slice(2)
await bringUpToDate(storeAt({ endpoint }), 'store-1', `${dataDir}/svc.db`, dataDir)
