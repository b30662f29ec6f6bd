/**
 * What is kept in memory for an owner, such as the context of a server: `make` makes it when it is first asked for, and it
 * goes when the owner does.
 */
export function onePer<Owner extends WeakKey, Kept extends object>(
  make: (owner: Owner) => Kept,
): (owner: Owner) => Kept {
  const all = new WeakMap<Owner, Kept>()
  return (owner) => {
    const known = all.get(owner)
    if (known !== undefined) return known
    const made = make(owner)
    all.set(owner, made)
    return made
  }
}
