import { setDefaultTimeout } from 'bun:test'
import { rounds } from './rounds.ts'

/** Before all tests (bunfig.toml): the runner's own limit is 5 seconds a test. */
setDefaultTimeout(rounds(60_000, 3_600_000))
