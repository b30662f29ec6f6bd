import { createLog } from './log.ts'
import { logStrayErrors } from './stray-errors.ts'

/** Run by stray-errors.process.test.ts: throws where nobody catches, and goes on. */
const write = (line: string) => void process.stdout.write(line)
logStrayErrors(createLog({ level: 'error', format: 'json', now: Date.now, write }))
const later = (work: () => void) => setImmediate(() => setTimeout(work, 1))
// Nested timers: timers that are due together all run before a rejection is reported.
later(() => {
  later(() => {
    later(() => process.stdout.write('still here'))
    Promise.reject(new Error('rejected'))
  })
  throw new Error('thrown')
})
