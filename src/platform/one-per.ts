/**
 * One object in memory per owner, such as the context of a server. `make` creates it on first use, and it is collected
 * together with its owner.
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
