import { followIn } from '../../../src/testing/following.ts'
import { storeAt } from '../../../src/testing/store-log.ts'

/** Follows a store, and tells of each number how long the event loop stood still at the most until it was applied. */
const [endpoint = '', dataDir = ''] = process.argv.slice(2)
const TICK_MS = 1

let before = performance.now()
let longest = 0
setInterval(() => {
  const now = performance.now()
  longest = Math.max(longest, now - before - TICK_MS)
  before = now
}, TICK_MS)

await followIn(dataDir, storeAt({ endpoint }, { timeoutMs: 60_000 }), {
  pollMs: 50,
  onApplied: (number) =>
    // The pause ends with this turn.
    setTimeout(() => {
      console.log(JSON.stringify({ number, longestMs: longest }))
      longest = 0
    }, 5 * TICK_MS),
})
console.log(JSON.stringify({ number: 1, longestMs: longest }))
longest = 0
