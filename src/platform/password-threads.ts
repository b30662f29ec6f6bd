import { niceThreads } from './nice-threads.ts'
// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './password-program.ts' with { type: 'text' }
import type { PasswordJob } from './password-program.ts'

/** Such a thread gets about a twentieth of a core that the server also wants: sign-ins may wait, visitors may not. */
const NICENESS = 13

/** The caller must limit how many run at once. */
export const onPasswordThread = niceThreads<PasswordJob, string | number>({
  niceness: NICENESS,
  failure: 'A password could not be hashed',
  program,
})
