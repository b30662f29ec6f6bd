import { niceThreads } from './nice-threads.ts'

/** A password to compare with a hash or, without one, to hash at these costs. */
type PasswordJob = { password: string; hash: string | null; costs: Bun.Password.Argon2Algorithm }

/** Such a thread gets about a sixth of a core that the server also wants: sign-ins may wait, visitors may not. */
const NICENESS = 7

/** The caller must limit how many run at once. */
export const onPasswordThread = niceThreads<PasswordJob, string | boolean>({
  niceness: NICENESS,
  failure: 'A password could not be hashed',
  program: `
  const work = ({ password, hash, costs }) =>
    hash === null ? Bun.password.hashSync(password, costs) : Bun.password.verifySync(password, hash)`,
})
