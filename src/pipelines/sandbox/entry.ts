import { runSandboxProcess } from './process.ts'

/** The entry of the sandbox when svc runs from sources; the executable starts itself instead. */
await runSandboxProcess()
