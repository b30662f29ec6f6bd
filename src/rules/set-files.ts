import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { compareText, type Problem } from '../domain/file-problems.ts'
import { MAX_FILE_BYTES } from '../domain/yaml-file.ts'

/**
 * The files of a rule set by their path in it, with `/`. Names that begin with a dot are ignored, except .well-known.
 */
export type SetFiles = {
  /** The displayed name of the set. It precedes every path in a problem. */
  shown: string
  /** Sorted. */
  paths: readonly string[]
  /** Reads the file now. Returns its text, or what is wrong with it. */
  read(path: string): { text: string } | { problem: string }
}

/** Undefined if there is no such folder. Reading a link that points outside the folder returns a problem. */
export function openSetFiles(folder: string, shown: string): SetFiles | undefined {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined
  const root = realpathSync(folder)
  const paths = listFiles(root).sort(compareText)
  return { shown: shown.replace(/\/+$/, ''), paths, read: (path) => readText(root, path) }
}

/** The same for texts in memory, for tests and pulled sets. */
export function filesOf(shown: string, texts: ReadonlyMap<string, string>): SetFiles {
  return {
    shown,
    paths: [...texts.keys()].sort(compareText),
    read(path) {
      const text = texts.get(path)
      return text === undefined ? { problem: 'there is no such file' } : { text }
    },
  }
}

export const shownPath = ({ shown }: SetFiles, path: string): string => `${shown}/${path}`

export const fileProblem = (files: SetFiles, path: string, message: string): Problem => ({
  file: shownPath(files, path),
  line: 1,
  column: 1,
  message,
})

function listFiles(root: string): string[] {
  const found: string[] = []
  const pending = ['']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      if ((entry.name.startsWith('.') && entry.name !== '.well-known') || entry.name === 'node_modules')
        continue
      const inner = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isDirectory()) pending.push(inner)
      else found.push(inner)
    }
  }
  return found
}

function readText(root: string, path: string): { text: string } | { problem: string } {
  const absolute = join(root, path)
  try {
    if (lstatSync(absolute).isSymbolicLink() && !realpathSync(absolute).startsWith(root + sep))
      return { problem: 'is a link that points outside the rule set' }
    const stats = statSync(absolute)
    // Reading a pipe could block for ever.
    if (!stats.isFile()) return { problem: 'is neither a file nor a folder' }
    const { size } = stats
    if (size > MAX_FILE_BYTES) return { problem: `has ${size} bytes; the limit is ${MAX_FILE_BYTES} (1 MiB)` }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(absolute)) }
  } catch (error) {
    return {
      problem: error instanceof TypeError ? 'is not UTF-8' : `cannot be read: ${messageOf(error)}`,
    }
  }
}
