import { startObjectServer } from './object-server.ts'

/** The test store as a program, for tests that do not run in Bun. Prints its endpoint, and ends with its input. */
const store = startObjectServer()
console.log(store.endpoint)
for await (const _ of console);
await store.stop()
