import { niceThreads } from './nice-threads.ts'

/** A password to compare with a hash or, without one, to hash at these costs. */
type PasswordJob = { password: string; hash: string | null; costs: Bun.Password.Argon2Algorithm }

/** Of a core that the server wants as well, such a thread gets a sixth: sign-ins may wait, visitors may not. */
const NICENESS = 7

/** How many run at once is for the caller to bound. */
export const onPasswordThread = niceThreads<PasswordJob, string | boolean>({
  niceness: NICENESS,
  failure: 'A password could not be hashed',
  program: `
  const work = ({ password, hash, costs }) =>
    hash === null ? Bun.password.hashSync(password, costs) : Bun.password.verifySync(password, hash)`,
})
