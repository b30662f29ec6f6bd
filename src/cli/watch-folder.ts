import { type FSWatcher, statSync, watch } from 'node:fs'

const QUIET_MS = 150
/** How often to check that the folder is still the same: a build or a checkout may delete and recreate it. */
const FOLDER_MS = 500
/** Much happens in there, and none of it is published. */
const NOT_OURS = /^(\.git|node_modules)([\\/]|$)/

/**
 * Calls when it is quiet again after changes inside, and when the folder itself goes or comes; one call after the other.
 * Returns how to end it, which waits for a call that runs.
 */
export function watchFolder(folder: string, changed: () => Promise<void>): () => Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> = Promise.resolve()
  const noted = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(changed)
    }, QUIET_MS)
  }
  // The number alone may be given again to the next folder.
  const identity = () => {
    const found = statSync(folder, { throwIfNoEntry: false })
    return found === undefined ? undefined : `${found.ino} ${found.birthtimeMs}`
  }
  const open = (): FSWatcher =>
    watch(folder, { recursive: true }, (_, name) => {
      if (name === null || !NOT_OURS.test(name)) noted()
    }).on('error', noted)
  let watched = identity()
  let watcher = watched === undefined ? undefined : open()
  const follower = setInterval(() => {
    const found = identity()
    if (found === watched) return
    watcher?.close()
    watched = found
    watcher = found === undefined ? undefined : open()
    noted()
  }, FOLDER_MS)
  return async () => {
    clearInterval(follower)
    clearTimeout(timer)
    watcher?.close()
    await running
  }
}
