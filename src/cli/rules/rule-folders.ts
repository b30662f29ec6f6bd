import { existsSync, readdirSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { findConfigFile, findUpwards } from '../config-file.ts'

/** The rule sets for the pages in a folder: those of the config, else all in the nearest `.svc/proxy-rules`. */
export function ruleFolders(folder: string): string[] {
  const config = findConfigFile([folder])
  if (config.ruleSets !== undefined) return config.ruleSets.map((one) => resolve(config.root, one))
  const base = baseOf(folder)
  if (base === undefined) return []
  return readdirSync(base, { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() ? [join(base, one.name)] : [],
  )
}

/** Folders to watch besides this one, because its rules are elsewhere: pages are often built into a separate folder. */
export function rulesElsewhere(folder: string): string[] {
  const { ruleSets } = findConfigFile([folder])
  const base = baseOf(folder)
  const places = ruleSets === undefined ? (base === undefined ? [] : [base]) : ruleFolders(folder)
  return places.filter((place) => relative(folder, place).split(sep)[0] === '..')
}

const baseOf = (folder: string): string | undefined => {
  const base = join('.svc', 'proxy-rules')
  const root = findUpwards(folder, (one) => existsSync(join(one, base)))
  return root === undefined ? undefined : join(root, base)
}
