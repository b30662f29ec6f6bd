import type { Release } from './release.ts'

/** `{{npm.package}}` and the like; not the `${{ … }}` of workflows. */
const PLACEHOLDER = /(?<!\$)\{\{([A-Za-z.]+)\}\}/g

/** Puts the names of this release, its version and its public key into a text; `more` is what else it may ask for. */
export function fill(text: string, release: Release, more: Readonly<Record<string, string>> = {}): string {
  const values = { ...namesOf(release), ...more }
  return text.replace(PLACEHOLDER, (placeholder, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`nothing is known to put in the place of ${placeholder}`)
    return value
  })
}

const namesOf = ({ config, version, publicKey }: Release): Record<string, string> => ({
  version,
  publicKey,
  'npm.package': config.npm.package,
  'npm.scope': config.npm.scope,
  'actions.upload': config.actions.upload,
  'actions.rules': config.actions.rules,
  image: config.image,
  deb: config.deb,
  index: config.index,
})
