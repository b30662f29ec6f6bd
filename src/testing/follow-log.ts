import { followIn } from './following.ts'
import { storeAt } from './store-log.ts'

/** A process of its own that follows, to be killed. It says so on standard output when it begins. */
const [endpoint = '', dataDir = ''] = process.argv.slice(2)
await followIn(dataDir, storeAt({ endpoint }, { timeoutMs: 30_000 }), { pollMs: 20 })
console.log('following')
setInterval(() => {}, 1_000)
