import { runSandboxProcess } from './process.ts'

/** What is started where svc runs from its sources; the executable starts itself. */
await runSandboxProcess()
