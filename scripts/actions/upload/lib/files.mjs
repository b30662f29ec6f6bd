/** @import { Dirent } from 'node:fs' */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ActionFailure } from './failure.mjs'

/**
 * The files below `folder` that `takes` wants, sorted by their path from there (`/` between the parts, NFC).
 * Names that no deployment holds are not even looked into. A link to a file inside the folder is followed; any
 * other that is wanted is refused, so that nothing outside is published unseen. All refusals come in one failure.
 * `onLeftOut` gets those that are wanted and yet skipped, a folder once.
 *
 * @param {string} folder
 * @param {(path: string) => boolean} takes
 * @param {(path: string) => void} [onLeftOut]
 * @returns {{ path: string, absolutePath: string }[]}
 */
export function findFiles(folder, takes, onLeftOut = () => {}) {
  const root = realFolder(folder)
  /** @type {{ path: string, absolutePath: string }[]} */
  const files = []
  /** @type {string[]} */
  const refused = []
  const pending = ['']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const entryPath = path === '' ? entry.name : `${path}/${entry.name}`
      const isFolder = entry.isDirectory()
      if (isLeftOut(entry.name)) {
        if (takes(isFolder ? `${entryPath}/any` : entryPath)) onLeftOut(entryPath)
        continue
      }
      if (!isFolder && !takes(entryPath)) continue
      try {
        refuseOtherEncoding(root, entryPath)
        if (isFolder) pending.push(entryPath)
        else files.push(publishedFile(root, entryPath, entry))
      } catch (error) {
        if (!(error instanceof ActionFailure)) throw error
        refused.push(error.message)
      }
    }
  }
  if (refused.length > 0) throw new ActionFailure(refused.sort().join('\n'))
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** @param {string} folder */
function realFolder(folder) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ActionFailure(`There is no folder ${folder}; see the input path`)
  return realpathSync(folder)
}

/** @param {string} name */
function isLeftOut(name) {
  return (name.startsWith('.') && name !== '.well-known') || name === 'node_modules' || name === '__MACOSX'
}

/**
 * Node replaces bytes that are not UTF-8 by U+FFFD, and no file is found under such a name. A folder of such a name is
 * refused whatever the patterns take, because nobody can look into it for what they would.
 *
 * @param {string} root
 * @param {string} path
 */
function refuseOtherEncoding(root, path) {
  if (!path.includes('\uFFFD') || lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined) return
  throw new ActionFailure(`${path} has a name that is not in UTF-8; rename it`)
}

/**
 * @param {string} root
 * @param {string} path
 * @param {Dirent} entry
 */
function publishedFile(root, path, entry) {
  const absolutePath = join(root, path)
  if (entry.name.includes('\\'))
    throw new ActionFailure(`${path} has a \\ in its name, which a deployment takes for a /; rename it`)
  if (entry.isSymbolicLink()) refuseLinkOut(root, path, absolutePath)
  else if (!entry.isFile()) throw new ActionFailure(`${path} is neither a file nor a folder; remove it`)
  return { path: path.normalize('NFC'), absolutePath }
}

/**
 * @param {string} root
 * @param {string} path
 * @param {string} absolutePath
 */
function refuseLinkOut(root, path, absolutePath) {
  let target
  try {
    target = realpathSync(absolutePath)
  } catch {
    throw new ActionFailure(`${path} is a symbolic link that leads nowhere; remove it`)
  }
  if (!target.startsWith(root.endsWith(sep) ? root : root + sep) || !statSync(target).isFile())
    throw new ActionFailure(
      `${path} is a symbolic link to ${target}; only links to files inside ${root} are followed`,
    )
}
