import { ForgeRefusal } from './call.mjs'
import { rowsOf } from './pages.mjs'

/**
 * Where the comments of a pull request lie.
 *
 * @typedef {{ list: string, edit: (id: string) => string, editMethod: string }} Thread
 */

/**
 * Writes the one comment of this marker anew, or for the first time. With `isEditOnly` a missing one stays missing.
 *
 * @param {import('./call.mjs').ForgeCall} call
 * @param {Thread} thread
 * @param {{ marker: string, text: string, isEditOnly: boolean }} comment
 */
export async function writeComment(call, thread, { marker, text, isEditOnly }) {
  const body = `${marker}\n${text}`
  const found = await findComment(call, thread, marker)
  if (found !== undefined) await call(thread.editMethod, thread.edit(found), { body })
  else if (!isEditOnly) await call('POST', thread.list, { body })
}

/**
 * By its first line and its author: anybody may copy the line.
 *
 * @param {import('./call.mjs').ForgeCall} call
 * @param {Thread} thread
 * @param {string} marker
 */
async function findComment(call, thread, marker) {
  const me = await ownAccount(call)
  for await (const comment of rowsOf(call, `${thread.list}?`)) {
    const [first] = String(comment['body'] ?? '').split(/\r?\n/, 1)
    if (first?.trimEnd() === marker && isOwn(comment['user'] ?? comment['author'], me))
      return encodeURIComponent(String(comment['id']))
  }
  return undefined
}

/**
 * Undefined where the token may not ask, as the one of a job of GitHub. Who is not told just now is not
 * taken for one: a person's token would write a second comment.
 *
 * @param {import('./call.mjs').ForgeCall} call
 */
async function ownAccount(call) {
  try {
    const { json } = await call('GET', '/user')
    const me = accountOf(json)
    return me.id === undefined && me.name === undefined ? undefined : me
  } catch (error) {
    if (error instanceof ForgeRefusal && isNo(error.status)) return undefined
    throw error
  }
}

/** @param {number} status */
const isNo = (status) => status >= 400 && status < 500 && status !== 429

/** The jobs of Forgejo and Gitea write as a user of this id, which no person has. */
const FORGEJO_JOBS = -2

/**
 * @param {unknown} author
 * @param {ReturnType<typeof accountOf> | undefined} me
 */
function isOwn(author, me) {
  const { id, name, isBot } = accountOf(author)
  if (me === undefined) return isBot || id === FORGEJO_JOBS
  return id === undefined || me.id === undefined ? name !== undefined && name === me.name : id === me.id
}

/**
 * As GitHub and Forgejo write an account, or GitLab.
 *
 * @param {unknown} user
 */
function accountOf(user) {
  const { id, login, username, type, bot } = /** @type {Record<string, unknown>} */ (user ?? {})
  const name = login ?? username
  const isBot = type === 'Bot' || bot === true || /^(project|group)_\d+_bot/.test(String(username))
  return { id, name, isBot }
}
