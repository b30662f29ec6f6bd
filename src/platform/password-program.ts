/** A password to compare with a hash or, without one, to hash at these costs. */
export type PasswordJob = { password: string; hash: string | null; costs: Bun.Password.Argon2Algorithm }

export const work = ({ password, hash, costs }: PasswordJob): string | boolean =>
  hash === null ? Bun.password.hashSync(password, costs) : Bun.password.verifySync(password, hash)
