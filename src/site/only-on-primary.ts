import type { Context } from '../context.ts'
import { notPrimary } from '../domain/store-errors.ts'

/** Throws on a machine that follows another: what calls a backend or runs is the primary's. contract 18 §6. */
export function onlyOnPrimary({ machine }: Pick<Context, 'machine'>): void {
  if (machine !== null && machine.role() !== 'primary') throw notPrimary()
}
