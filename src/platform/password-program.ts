/** The forms of a password to compare with a hash or, without one, the first of them to hash at these costs. */
export type PasswordJob = {
  forms: readonly string[]
  hash: string | null
  costs: Bun.Password.Argon2Algorithm
}

/** The hash, or which form matches; -1 for none. All of them are tried. */
export const work = ({ forms, hash, costs }: PasswordJob): string | number =>
  hash === null
    ? Bun.password.hashSync(forms[0] ?? '', costs)
    : forms.map((form) => Bun.password.verifySync(form, hash)).indexOf(true)
