import { processIo } from './io.ts'

/** Run by io.test.ts: reads two passwords, shows them and much more, and ends with 7. */
const io = processIo({})
const lines = [await io.readPassword('Password: '), await io.readPassword('Again: ')]
io.stdout.write(JSON.stringify({ lines, isTerminal: io.isTerminal }))
io.stdout.write('x'.repeat(1_000_000))
process.exit(7)
