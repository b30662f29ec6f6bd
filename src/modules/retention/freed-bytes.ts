import type { Context } from '../../context.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { findUse, listForms, listOriginals } from './queries.ts'

const AT_ONCE = 500

/**
 * The bytes that the disk gets back: contents and their compressed forms that nothing in the workspace needs any more.
 * `leaving`: how many files of each content are still there but about to go. Works in small steps.
 */
export async function freedBytes(ctx: Context, leaving: ReadonlyMap<number, number>): Promise<number> {
  const freed = new Freed(ctx, leaving)
  let looked = 0
  for (const id of leaving.keys()) {
    freed.look(id)
    looked += 1
    if (looked % AT_ONCE === 0) await nextTurn()
  }
  return freed.bytes
}

class Freed {
  readonly #ctx: Context
  readonly #leaving: ReadonlyMap<number, number>
  readonly #ids = new Set<number>()
  bytes = 0

  constructor(ctx: Context, leaving: ReadonlyMap<number, number>) {
    this.#ctx = ctx
    this.#leaving = leaving
  }

  /** A form goes with the last content that it is a form of, so it is looked at again with each of them. */
  look(id: number): void {
    if (this.#ids.has(id)) return
    const { db } = this.#ctx
    const leaving = this.#leaving.get(id) ?? 0
    const use = findUse(db, id, leaving + 1, this.#ctx.now())
    if (use === null || use.uses > leaving || use.isSent === 1) return
    if (listOriginals(db, use.sha256).some((original) => !this.#ids.has(original))) return
    this.#ids.add(id)
    this.bytes += use.sizeBytes
    for (const form of listForms(db, use.sha256)) this.look(form)
  }
}
